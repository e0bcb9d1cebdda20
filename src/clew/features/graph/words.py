"""Words of ordinary English that a capital makes no name: they open sentences and labels, or are shouted.

Told by a list of verbs, qualities and abstract things in their ground form, and by endings that are those of
participles, adverbs and the like. A word that is also a name now and then is missed as one; where it is meant as one,
it mostly stands beside another word, in a link or in a tag.
"""

from __future__ import annotations

from collections.abc import Mapping

from clew.text.entities import canonical

TOOLS: Mapping[str, str] = {
    name: title
    for line in """
Python|python3|cpython
JavaScript|javascript
TypeScript|typescript
Rust|rustlang
Golang
Kotlin
Haskell
Elixir
Erlang
Scala
Clojure
C++
PHP
MATLAB
Fortran
Node.js|nodejs|node.js
Deno
React|reactjs|react.js
React Native|react-native
Next.js|nextjs
Vue|vuejs|vue.js
Svelte|sveltekit
Angular|angularjs
Tailwind|tailwindcss
Vite
Webpack
Electron
Tauri
Flutter
SwiftUI
Django
Flask
FastAPI
Starlette
Rails
Laravel
PostgreSQL|postgres|psql|pg
pgvector
MySQL
MariaDB
SQLite|sqlite3
DuckDB
MongoDB|mongo
Redis
Valkey
Memcached
Cassandra
DynamoDB
ClickHouse
TimescaleDB|timescale
InfluxDB
Neo4j
Elasticsearch
OpenSearch
Meilisearch
Lucene
Tantivy
FAISS
Qdrant
Milvus
Weaviate
LanceDB
Kafka
RabbitMQ
NATS
MQTT
Mosquitto
ZeroMQ
Celery
Airflow
Dagster
dbt
Spark|pyspark
Hadoop
Snowflake
BigQuery
Parquet
pandas
Polars
NumPy
SciPy
scikit-learn|sklearn
PyTorch|torch
TensorFlow
Keras
XGBoost
LightGBM
ONNX|onnxruntime
Hugging Face|huggingface
LangChain
LangGraph
LlamaIndex
Ollama
llama.cpp
vLLM
Whisper
OpenAI
Anthropic
Claude
Codex
Cursor
Gemini
Mistral
Jupyter
Streamlit
Gradio
matplotlib
Grafana
Prometheus
Loki
OpenTelemetry|otel
Jaeger
Sentry
Datadog
Docker
docker-compose
Podman
Kubernetes|k8s|kubectl
Helm
Terraform
Ansible
Pulumi
Nomad
systemd
nginx
Caddy
Traefik
HAProxy
Envoy
Cloudflare
Vercel
Netlify
Heroku
Fly.io
AWS
EC2
S3
GCP
Azure
Firebase
Supabase
GitHub
GitLab
Jenkins
CircleCI
pytest
Hypothesis
mypy
ruff
ESLint
Prettier
Jest
Vitest
Playwright
Cypress
Selenium
Puppeteer
GraphQL
gRPC
Protobuf
OpenAPI
WebSocket|websockets
WebRTC
WebAssembly|wasm
OAuth|oauth2
Keycloak
Auth0
Stripe
Twilio
SendGrid
Slack
Discord
Telegram
Notion
Obsidian
Logseq
Jira
Figma
Zotero
Pandoc
LaTeX
Hugo
Jekyll
MkDocs
Sphinx
WordPress
Shopify
Arduino
ESP32|esp8266
Raspberry Pi
Zigbee
ESPHome
LoRa|lorawan
FreeRTOS
KiCad
Blender
Godot
Unity3D
Unreal
Three.js|threejs
D3.js|d3
Leaflet
Mapbox
OpenStreetMap|osm
PostGIS
QGIS
GDAL
GeoPandas
OpenCV
FFmpeg
GStreamer
SuperCollider
Csound
Ableton
Asyncio
Pydantic
SQLAlchemy
Alembic
msgspec
apsw
networkx
Poetry
Conda
npm
pnpm
yarn
Bazel
CMake
Ninja
LLVM
Tree-sitter
Neovim
Emacs
VS Code|vscode
tmux
WireGuard
Tailscale
Syncthing
restic
Borg|borgbackup
rclone
ZFS
Btrfs
Proxmox
Nix|nixos
Debian
Ubuntu
Alpine
Android
iOS
Hermes
OpenClaw
Stan
PyMC
Prophet
spaCy
NLTK
BERT
MiniLM
Home Assistant|homeassistant
Node-RED
""".strip().splitlines()
    for title in [line.split("|")[0]]
    for name in (title.casefold(), *line.split("|")[1:])
}
"""The name a tool is shown by, by every form it is written in."""

ONLY_CAPITALISED = frozenset(
    """rust rails react spark borg hugo flask celery loki helm stan leaflet cursor claude codex gemini whisper sphinx
    poetry hypothesis electron svelte notion slack discord envoy nomad prophet ninja alpine unreal blender
    azure hermes angular conda yarn puppeteer cypress jest stripe caddy sentry""".split()
)
"""Tools whose names are words: they count where they are written with a capital inside a sentence."""

AMBIGUOUS_ALIASES = frozenset({"pg", "d3", "osm", "torch", "mongo"})
"""Short for a tool only where the text is technical; left out."""

GIVEN_NAMES = frozenset(
    """ada adam alan alex alice amanda amir amy ana andrea andrew angela anna anne anton arthur ben bob brian bruno
    carla carlos carol caroline charles charlie chen chloe chris christine claire clara daniel david diana diego
    edward elena elias elisa emily emma eric eva felix fiona frank gabriel george giulia grace hannah hans heidi helen
    henry ines ingrid ivan jack jacob james jane jasmine javier jean jeff jennifer jessica joan joe john jonas jordan
    jose joseph juan julia julian karen karl kate katherine kevin laura lena leo liam linda lisa louis lucas lucy luis
    luke maria marie mario marta martin mary matt matthew maya melanie mia michael mike mina mohammed monica nadia nate
    nathan nicole nina noah oliver olivia omar oscar pablo patrick paul pedro peter philip priya rachel raj rebecca
    robert rosa ryan sam samantha samuel sandra sara sarah simon sofia sophie stefan stephen steve susan tariq teresa
    thomas tim tom victor victoria wei william xavier yuki yusuf zoe""".split()
)

GENERIC = frozenset(
    """a about above absolutely action actions actually additionally after again all also alternatively although am
    american an and another answer any api app application april architecture are aren't as asap ascii ask at
    august background backlog basically be because before best better both british btw bug bugs but by call can
    can't caution cd changelog changes chinese christmas ci cli client code comment comments conclusion config
    configuration congratulations contents context cpu css csv current currently data date db december default
    definitely description design details dev did didn't discussion dm dns do docs document documentation does
    doing don't done draft each east email english error errors eta eu eur european every example examples faq
    feature features february feedback few file files final finally first firstly fix fixes follow for french
    friday from function further future fyi general german get gmt go goal goals good gpu great guide has have he
    hello help her here here's hey hi hint his history hmm how however hr html http https i'd i'll i'm i've id
    idea ideas ids if imo important in info input install installation instead internet introduction io ip is
    isn't iso issue issues it it's italian its january japanese json july june just keep key kpi last later
    learned left let let's lgtm license like line link links list llm log logs look lore mac make many march may
    maybe md5 meeting message method misc mit ml monday more most motivation mvp my name nb need new next no none
    nope north not note notes november now number nyc october of oh ok okay okr on one only open options or os
    other our output overview owner part path pc pdf people perfect perhaps plan plans please pm poc post pr
    previous probably problem problems progress project projects ps purpose put q1 q2 q3 q4 qa question questions
    ram read readme really reason references related release request requirements result results review right
    risks roadmap roi run saturday scope second secondly section see september server service session set setting
    settings setup sha she should show since so solution some something source south spanish spec sql ssh ssl
    start status step steps still stuff summary sunday sure system table tags task tasks tbd tcp team test testing
    tests text thank thanks that that's the their them then there there's these they thing things this though
    thursday time timeline tip title tls to today todo tomorrow tonight tool tools topic tuesday turn tv two type
    udp ui uk update updates url us usa usage usd use user users using utc utf-8 utf8 uuid v1 v2 v3 version very
    vm vms wait warning wasn't web wednesday week well west what what's when where which while who why will wip
    with within without work working would wow xml yaml yeah year yes yesterday you your""".split()
)
"""Words that head sections, open sentences or stand everywhere: none of them names anything by itself."""

OPENERS = frozenset(
    """a an and are as at but by each every for from he her his how i if in is it its let my no not of on or our she so
    some that the their then there these they this those to we what when where which while who why with you your
    also see use using hey hi hello thanks wow yeah ok okay dear""".split()
)
"""Words that open a sentence and may stand before a name."""

PROJECT_QUALIFIERS = frozenset(
    """a an another any big bigger client company current demo each every existing final first former group her his
    hobby home internal its large last little main my new next old older original other our own personal pet pilot
    private research same sample school side similar single small smaller test that the their this toy weekend whole
    work your""".split()
)
"""Words that say which project is meant, or what sort of one it is, and are no project's name."""

FRAMEWORK_WORDS = frozenset({"property", "staticmethod", "classmethod", "dataclass", "override", "pytest", "media"})
"""What follows an `@` in code."""

CODE_HOSTS = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht"})

PACKAGE_STEPS = frozenset({"package", "packages", "crate", "crates", "gem", "gems"})
"""In an address: what a package's name follows."""


_LEAST_ENDED_CHARS = 5
_ENDINGS = ("ed", "ing", "ly", "able", "ible", "tion", "tions", "ness", "ment", "ments", "ful", "less", "ive", "ize")
_NAMES_WITH_SUCH_ENDINGS = frozenset(
    "airtable beijing bitly boeing clive constable dunstable grammarly italy nanjing olive sicily wyoming".split()
)


def is_ordinary(title: str) -> bool:
    """Whether every word of a title is an ordinary one, however it is written."""
    words = canonical(title).split()
    return bool(words) and all(_is_ordinary_word(word) for word in words)


def _is_ordinary_word(word: str) -> bool:
    if word in _NAMES_WITH_SUCH_ENDINGS:
        return False
    has_ending = len(word) >= _LEAST_ENDED_CHARS and word.isalpha() and word.endswith(_ENDINGS)
    return has_ending or any(form in GENERIC or form in _ORDINARY for form in _ground_forms(word))


def _ground_forms(word: str) -> tuple[str, ...]:
    """A word and what it may be a plural or a third person of."""
    if not word.endswith("s"):
        return (word,)
    return word, word[:-1], word.removesuffix("es"), f"{word.removesuffix('ies')}y"


_ORDINARY = frozenset(
    """
    ability able above abort absent accept access account ack across act active actual add address adjust adopt advance
    advice after against age agree ahead aim alarm alert align all allow almost alone along already also alter always
    amend among amount analyse analysis analyze answer anybody anyone anything anyway anywhere apart appear append apply
    approach approve are area argue argument around arrange arrive article aside aspect assert assess assign assist
    assume assure attach attack attempt attend audit author auto automatic avoid await aware away awful bad badly
    balance ban bare base basic basis batch beat became become been began begin begun behave behind being believe bell
    belong below benefit beside besides bet between beware beyond big bind bit bite blank block body bold book boost
    born borrow bother bottom bound box brand brave break breath brief bright bring broad broke broken brought browse
    budget buffer build built bulk bump bunch burn burst busy buy bye bypass byte cache calculate came cancel cannot
    capture card care careful carry case cast catch category cause cell central certain chain challenge chance change
    char character charge chart chat cheap check cheer child choice choose chose chosen chunk circle claim class classic
    clean clear clever click clip clone close cloud clue code cold collapse collect column combine come command commit
    common compare compile complain complete complex compute concern confirm conflict confuse connect consider consist
    constant contain content continue contract contrast control convert cool copy core corner correct cost could
    count couple course cover crap crash crazy create critical cross cry cure custom cut cycle daily damn danger
    dark dash day dead deal dear debug decent decide deep defer define degree delay delete deliver demand deny depend
    deploy depth derive describe desire destroy detail detect determine develop diff differ different difficult dig
    direct dirty disable discard discover discuss display distinct divide double doubt down download drag drain draw
    drawn dream drive driven drop dry due dump during duty dynamic eager ear early earn ease easy eat echo edge edit
    effect effort eight either element else embed emit empty enable end enforce engage enjoy enough ensure enter entire
    entry enum eof equal eq erase escape especially essential estimate etc evaluate even event ever everybody everyone
    everything everywhere evidence exact examine exceed except exchange exclude excuse execute exist exit expand expect
    expert explain explicit explore export expose extend extra extract extreme eye face fact factor fail failure fair
    fall fallen false familiar far fast fatal fault favor favour fear feed feel fell felt fetch field fifth fight
    figure fill filter find fine finish fire fit five fixture flag flat flip float floor flow flush focus fold folder
    folk food fool force forever forget forgot forgotten fork form formal format forth forward foul found four fourth
    frame free freeze fresh front fuck full fully fun further game gap gather gave generate gentle gets getter
    give given glad global goes gone gonna got gotta grab grade grand grant graph gray grey grew group grow grown guard
    guess guest had half halt hand handle hang happen happy hard hardly harm hate haven head heading health hear heard
    heart heat heavy heck hell held hence hesitate hidden hide high highlight hit hold hole home honest hook hope
    horrible host hot hour house huge human hundred hurry hurt icon ideal identify idle ignore ill image imagine
    immediate impact implement imply import impose impossible improve incident include incomplete increase indeed index
    indicate individual infer inform inherit initial inject inner insert inside insist inspect instance instant intend
    interest internal into invalid invite involve isolate item iterate itself job join joke judge jump kept kick kill
    kind knew know known label lack land language large late latest latter launch layer layout lazy lead leader leak
    lean leap learn learnt least leave led legacy legal length less lesson level lie life lift light likely limit linear
    literal little live load local locate lock logic long loop loose lose loss lost lot loud love low lower luck lucky
    made magic main maintain major manage manual map mark mask mass master match material matter max maximum mean
    meaning meant measure meet member memory mental mention mere merge mess met metric mid middle might mild min mind
    mine minimal minimum minor minus minute miss mistake mix mock mode model modern modify module moment month mood
    moreover morning mount mouse move much multiple must mute myself naive narrow native natural near nearly neat
    necessary neither nested never nevertheless news nice night nine nobody node noise normal normally nothing notice
    notify nowhere null obey object observe obtain obvious occur odd off offer offline often old omit once ongoing
    online onto oops operate opinion oppose optimal optional orange order ordinary organise organize origin original
    otherwise ought ours outcome outer outline outside over overall override own pace pack page paid pain paint
    pair panel panic paper paragraph parallel parent parse partial party pass past paste patch pattern
    pause pay peace peer pending per perform period permit persist person phase phone phrase physical pick
    picture piece pin ping pipe pity place plain
    platform play plenty plus point policy poll pool poor pop popular port portion pose position possess possible
    potential power practice pray predict prefer prefix prepare present preserve press pretend pretty prevent preview
    price pride primary prime print prior priority private proceed process produce product profile profit program
    prompt proof proper property propose protect prove provide public publish pull pure push quality query queue quick
    quiet quit quite quote race raise ran random range rank rapid rare rarely rate rather raw reach react ready real
    realise realize rearrange reason rebuild recall receive recent reckon recommend record recover recreate red reduce
    refactor refer reference refine reflect refresh refuse regard region regular reject relate relax relevant reload
    rely remain remark remember remind remote remove rename render repair repeat replace reply report represent
    reproduce require rerun rescue research reserve reset resolve resource respect respond response rest restart restore
    restrict retain retry return reveal revert revise rewrite rich rid ride ring rise risk road role roll room root
    rough round route routine row rule rush sad safe said sake same sample sanity sat save saw scale scan scary scene
    schedule schema scratch screen script scroll seal search secret secure seek seem seen segment select self sell send
    sense sensible sent sentence separate sequence serious serve settle seven several severe shall shallow shape share
    sharp shell shift ship shit shock short shot shout shown shut sick side sign signal silent silly similar simple
    simplify simply single sit site situation six size skip sleep slice slide slight slot slow small smart smooth sold
    solid solve somebody somehow someone sometimes somewhere soon sorry sort sound space spare spawn speak special
    specific specify speed spell spend spent split spoke spoken spot spread square stable stack staff stage stand
    standard stash state static stay steady steal stick stolen stood stop storage store story straight strange strategy
    stream street stress stretch strict strike string strip strong structure struggle stuck study stupid style sub
    subject submit subset succeed success such sudden suffer suggest suit sum super supply support suppose surface
    surprise survey suspect suspend swap sweet switch sync syntax tab tag tail take taken talk target taste taught teach
    tell template ten tend term terrible text than theirs themselves theory therefore thick thin third thorough
    thought thousand thread threat three through throughout throw thrown thus tick tidy tie tight till tiny tired
    together told tone too took top total touch tough toward trace track trade traffic train transfer transform
    translate travel treat tree trial trick trigger trim trip trouble true truly truncate trust truth try tune twice
    typical ugly
    ultimate unable uncertain under understand understood undo unfortunately unique unit unknown unless unlike unlock
    unsafe until unused upload upon upper upset urgent useful useless usual valid validate valuable value various vary
    vast verbose verify versus via view virtual visible visit visual vital voice void vote wake walk wall wanna want
    warm warn was wash waste watch water way weak wealth wear weekly weight weird welcome went were whatever whenever
    wherever whether whoever whole whom whose wide wild win window wipe wire wise wish wonder word wore world worn
    worry worse worst worth wrap write written wrong wrote yell yellow yet yourself zero zone
    """.split()
)
