"""Words that are known: tools by name, people by first name, and words that name nothing by themselves."""

from __future__ import annotations

from collections.abc import Mapping

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
