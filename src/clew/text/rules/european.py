"""German, French and Spanish words of rules, in the same classes as the English ones."""

from __future__ import annotations

from clew.text.rules.signs import language

GERMAN = language(
    """
function words: der die das den dem des ein eine einen einem einer eines ich du er sie es wir ihr mich dich sich uns
    euch mir dir ihm ihn ihnen mein meine meinen meiner dein deine sein seine unser unsere euer ist sind war waren bin
    bist seid hat haben habe hast hatte wird werden wurde kann kannst können konnte muss müssen musst soll sollen sollte
    will wollen möchte mag darf dürfen und oder aber denn weil dass wenn als wie wo was wer warum mit ohne für von vom
    zu zum zur in im an am auf aus bei beim nach vor über unter zwischen durch gegen um bis seit nicht kein keine keinen
    keiner nie niemals immer nur noch schon auch so sehr mehr doch ja nein jetzt heute gestern morgen hier da dann man
    etwas nichts alles alle jede jeder jedes bitte danke mal eben halt gerade wieder diese dieser dieses gerne leider
    eigentlich
idle: ahnung sorge sorgen problem probleme frage wunder angst zeit geld lust idee chance ding stress eile
one thing: ein eine einen diese diesen dieses zwei drei mal das mir
joints: und oder aber weil denn sondern
links: und oder
occasions: bei in für an mit auf
negations: nicht nie niemals kein keine keinen keinerlei nichts
plural endings: en er el s e n
answers: nein ja ok doch genau
lead-ins: also, so, ok, okay, und, aber, übrigens, ach, ach ja, naja, hör mal, hallo, hi, bitte, außerdem, noch was,
    gut, wichtig, merke, regel, ab jetzt/sofort/heute, künftig, in zukunft, von jetzt an, weil, denn, merk dir, bei uns
requests: kannst/könntest du, kannst/könntest du bitte
opens ban: kein/keine/keinen *, keinerlei, nie, niemals, nicht mehr, auf keinen fall, unter keinen umständen, hör auf,
    aufhören, lass das/die, vermeide, verzichte auf, schluss mit, du darfst/sollst nicht/nie/kein/keine, ich will/möchte
    nicht/kein/keine
opens told: immer, nur, ausschließlich, grundsätzlich, du musst, du sollst, du darfst nur, musst du, ich bitte dich, ich
    möchte/will dass du, mir ist wichtig, mir wäre lieber
opens wish: ich möchte/will/erwarte/bevorzuge, ich hätte gern/gerne
opens ours: wir *en, bei uns
opens order: dass du, verwende, benutze, benutz, nutze, nutz, antworte, schreib, schreibe, frag, frage, nenn, nenne,
    sprich, duz, duze, siez, sieze, halte, bleib, bleibe, nimm, gib, zeig, sag, leg, lege, runde, zitiere, formuliere,
    fass, melde, lass, setz, setze, behalte, behandle, achte, denk, stell sicher, stelle sicher, mach, mache, erwähne,
    erwähn, ruf, schick, schicke, plan, plane, buch, buche, stell, stelle, vergiss
opens occasion: wenn/falls jemand/ein/eine/du, sobald, bevor du, im zweifel, wer
opens self: ich, er, sie, es, das, da, mein, meine, man, hier, was, wie, du bist/hast, wir haben/sind/waren
opens kind: jede/jeder/jedes/alle *, niemand, keiner, nichts
holds must: muss, müssen, musst, soll, sollen, braucht, brauchen, notwendig, gilt
holds told: verboten, tabu, pflicht, nicht erlaubt
holds always: immer, stets, jedes mal, grundsätzlich, generell, nie, niemals, nicht mehr, nie wieder
holds any: jede, jeder, jedes, jeden, jedem, alle, allen, alles, sämtliche, niemand, nichts, überall
holds only: nur, höchstens, maximal, mindestens, ausschließlich, spätestens, frühestens, innerhalb
holds first: erst, zuerst, vorher, bevor, vorab, freigabe, ohne rückfrage
holds lasting: ab jetzt/sofort/heute/morgen, von jetzt/nun an, künftig, in zukunft, zukünftig, fortan, bis auf weiteres,
    beim nächsten mal, nächstes mal, das nächste mal, ohne ausnahme, ausnahmslos
holds please: bitte
holds heed: sonst, keine ausnahmen, merk dir, regel, denk daran, denk dran, ich meine das ernst
holds goes: gehört, gehören, kommt, kommen, geht, gehen, bleibt, bleiben, wird, werden, läuft, laufen, bieten/machen wir
    nicht
holds form: antworten, antwort, antworte, kurz, knapp, emojis, aufzählungen, tabelle, tabellen, listen, duz, duze, siez,
    sieze, deutsch, englisch, sprache, ton, stil, maße, einheiten, datum, preise, beträge, sätze, kommentare, quellen,
    fachwörter, anglizismen, abkürzungen, überschriften
holds occasion: montags, dienstags, mittwochs, donnerstags, freitags, samstags, sonntags, am wochenende, morgens,
    abends, nachmittags, mittags, nachts
holds past: war, waren, hatte, hatten, wurde, wurden, gestern, letzte woche, letztes jahr, ging, kam
holds report: sagt, sagte, meint, meinte, behauptet, angeblich, laut, erzählt, müsste, dürfte, wohl, muss ja, musst ja,
    ich muss, muss ich
holds once: diese, dieser, dieses, diesen, heute, morgen, jetzt, gleich, nächste woche, die letzte, den letzten,
    diesmal, noch mal, nochmal, noch einmal, in zeile
holds talk: glück, spaß, haha, super, toll, schön, danke, lustig, leider, ich finde, ich glaube, ich denke, weiter so,
    gib nicht auf
"""
)

FRENCH = language(
    """
function words: le la les l' un une des du de d' au aux ce cet cette ces c' mon ma mes ton ta tes son sa ses notre nos
    votre vos leur leurs je j' tu il elle on nous vous ils elles me m' te t' se s' lui y en moi toi qui que qu' quoi
    dont où est sont était étaient suis es êtes sommes ai as a avons avez ont avait fait va vont peut peux doit dois
    faut et ou mais car donc si quand comme comment pourquoi avec sans pour par dans sur sous entre chez vers avant
    après depuis pas plus jamais rien personne toujours encore déjà aussi très trop bien non oui ne n' tout toute tous
    toutes chaque merci bonjour aujourd'hui ici là puis alors
idle: souci soucis problème problèmes idée grave doute question inquiète inquiétez hésite hésitez sais crois temps
one thing: un une ce cette ces le la l' deux trois
joints: et ou mais car donc
links: et ou
occasions: dans pour chez avec
negations: pas jamais
kind articles: les
plural endings: s x
answers: non oui si ok
lead-ins: bon, ok, alors, et, mais, donc, au fait, d' ailleurs, ah, oh, bonjour, salut, sinon, aussi, enfin, important,
    règle, désormais, dorénavant, à partir de maintenant, à l' avenir, s' il te plaît, s' il vous plaît, svp, stp,
    écoute, car, chez nous
requests: peux-tu, pourrais-tu, tu peux, tu pourrais
opens ban: ne/n' *, ne pas/jamais/plus/me/le/la/les *, arrête/arrêtez/cesse/cessez de, évite, évitez, pas/plus/jamais
    de/d' *, aucun/aucune *, interdiction de, je ne veux pas/plus, il ne faut pas/jamais/plus, tu ne dois, vous ne
    devez, on ne/n' *
opens told: toujours, uniquement, seulement, tu dois, vous devez, il faut toujours, il faut, veille à, veillez à,
    assure-toi, assurez-vous, pense à, pensez à, je veux/souhaite/préfère/voudrais que, j' aimerais que
opens wish: je veux/souhaite/préfère/voudrais, j' aimerais
opens ours: on *, nous *ons, chez nous
opens order: utilise, utilisez, réponds, répondez, réponds-moi, écris, écrivez, demande, demande-moi, tutoie,
    tutoie-moi, vouvoie, vouvoie-moi, garde, gardez, mets, mettez, emploie, employez, parle-moi, appelle-moi,
    préviens-moi, montre-moi, dis-moi, laisse, laissez, reste, restez, respecte, respectez, cite, citez, signe, traite,
    commence, termine, nomme, note
opens occasion: quand/si on/tu/vous/un/une/quelqu'un, chaque fois que, avant de, avant chaque, en cas de, dès que
opens self: je, j', il, elle, ils, elles, c', ça, ce, mon, ma, mes, son, sa, tu es, tu as, nous avons
opens kind: chaque/toute/tout/aucun/aucune *, tous/toutes les, personne/rien ne
holds must: doit, doivent, il faut, nécessaire
holds told: interdit, interdite, interdits, interdites, obligatoire, obligatoires
holds always: toujours, jamais, systématiquement, à chaque fois, par défaut, ne * plus
holds any: chaque, tout, toute, tous, toutes, personne, aucun, aucune, rien, partout
holds only: uniquement, seulement, au plus, au maximum, maximum, au moins, ne dépassent pas, ne dépasse pas
holds first: avant, d' abord, avant de, avant chaque, mon accord, à l' avance
holds lasting: à partir de maintenant, à partir d' aujourd'hui, désormais, dorénavant, à l' avenir, dès maintenant, la
    prochaine fois, jusqu' à nouvel ordre, sans exception
holds please: s' il te plaît, s' il vous plaît, svp, stp
holds heed: c' est la règle, règle, y tiens/tient, j' insiste, sinon, n' oublie pas, allergique
holds goes: se *nt, se *e, va dans, vont dans, reste, restent, sont *s, passe par, passent par
holds form: réponse, réponses, réponds, répondez, court, courte, courtes, courts, émojis, emojis, liste, listes,
    tableau, tutoie, tutoie-moi, vouvoie, vouvoie-moi, français, anglais, langue, ton, style, unités, dates, prix,
    montants, phrases, guillemets, sources, anglicismes, abréviations, jargon, commentaires
holds occasion: le lundi/mardi/mercredi/jeudi/vendredi/samedi/dimanche/week-end/soir/matin, la nuit
holds past: était, étaient, avait, hier, la semaine dernière, j' ai, a dit, ai, ont, avons, m' a, a été
holds report: dit, disait, selon, d' après, paraît, prétend, raconte, devait, devrait, il doit, elle doit, dois être,
    devez être, je dois, il faut que je, il faut que j'
holds once: ce matin, aujourd'hui, demain, maintenant, cette fois, ce document, le dernier, la dernière, cette semaine
holds talk: inquiète, inquiétez, courage, haha, super, génial, merci, drôle, je trouve, je crois, je pense, dommage
"""
)

SPANISH = language(
    """
function words: el la los las un una unos unas de del al a y o e u pero porque que como cuando donde quien si no sí con
    sin por para en entre sobre hasta desde hacia yo tú él ella nosotros ellos ellas me te se nos le les lo mi mis tu
    tus su sus nuestro nuestra es son era eran está están estoy soy eres fue ha han he has hay ser estar tiene tengo
    tienes hace puede puedo puedes debe va van vas este esta estos estas ese esa eso esto muy más menos ya también solo
    siempre nunca jamás nada nadie todo toda todos todas cada algo alguien gracias hola ahora hoy aquí qué cómo cuándo
    dónde quién antes después estás además entonces
idle: preocupes quieres sabes crees importa gusta pasa parece problema duda embargo llego olvido sé
one thing: un una este esta estos estas dos tres el la me
joints: y o pero porque
links: y o
occasions: en para con
kind articles: los las
plural endings: s
answers: no sí si vale ok claro
lead-ins: bueno, vale, ok, y, pero, pues, por cierto, ah, oye, mira, además, también, por favor, importante, regla,
    norma, a partir de ahora, de ahora en adelante, desde ahora, en adelante, hola, entonces, porque, recuerda, recuerda
    que
requests: puedes, podrías
opens ban: no *es/*as, no me/le/les/lo/la *es/*as, no se *, no se debe, nunca/jamás *, deja de, dejad de, dejar de, para
    de, evita, evite, evitar, nada de *, basta de, prohibido, queda prohibido, está prohibido, no quiero que, no quiero
    *s, en ningún caso, bajo ningún concepto, ningún *, ninguna *, sin *s
opens told: siempre *, solo, sólo, únicamente, debes, tienes que, hay que, siempre hay que, asegúrate, asegúrese,
    acuérdate, procura, no debes, no puedes, quiero/prefiero/necesito/preferiría/agradecería/exijo que, me gustaría que,
    te pido/agradecería que
opens wish: quiero, prefiero, me gustaría, necesito, quisiera, preferiría
opens ours: en esta casa, aquí no, aquí se, nosotros *mos, usamos, escribimos, trabajamos, enviamos
opens order: usa, use, utiliza, utilice, responde, respóndeme, contesta, contéstame, escribe, escríbeme, pregunta,
    pregúntame, avisa, avísame, trátame, tutéame, llámame, pon, mantén, deja, enséñame, muéstrame, háblame, habla,
    firma, redondea, cita, respeta, incluye, consulta, consúltame, copia, trata, empieza, termina, actualiza, nombra
opens occasion: cuando/si un/una/alguien/hay, cuando *as/*es, siempre que, cada vez que *as/*es, antes de, en caso de,
    en cuanto, ante la duda, al *ar/*er/*ir
opens self: yo, estoy, soy, tengo, he, me, mi, fui, creo, nunca he, siempre/nunca me, es, está, era, fue, él, ella,
    ellos, esto, eso, este, esta, su
opens kind: cada/todo/toda/cualquier/nadie/nada/ningún *, todos los, todas las
holds must: debe, deben, tiene que, tienen que, hay que, necesita, necesitan, requiere, requieren
holds told: prohibido, prohibida, prohibidos, obligatorio, obligatoria, no está permitido
holds always: siempre, nunca, jamás, en todo momento, cada vez, por defecto, ya no
holds any: cada, todo, todos, toda, todas, cualquier, nadie, nada, ningún, ninguna, quien
holds only: solo, sólo, únicamente, como máximo, máximo, como mínimo, mínimo, al menos, no más de, dentro de
holds first: primero, antes, antes de, previamente, visto bueno, sin preguntar, con antelación
holds lasting: a partir de ahora, de ahora en adelante, desde ahora, a partir de hoy, desde hoy, en adelante, en lo
    sucesivo, hasta nuevo aviso, sin excepción, sin excepciones, la próxima vez
holds please: por favor
holds heed: tenlo en cuenta, ten en cuenta, y punto, es la norma, norma, regla, lo digo en serio, alérgico, alérgica
holds goes: van, va, se *n/*a/*e, pasan/pasa por, llevan, lleva, llevar
holds form: responde, respuestas, respuesta, contéstame, cortas, corto, breve, breves, emojis, listas, tabla, trátame,
    tutéame, español, inglés, idioma, tono, unidades, fechas, precios, importes, frases, estilo, anglicismos, jerga,
    comentarios, fuentes, abreviaturas, pregúntame, preguntes
holds occasion: los lunes/martes/miércoles/jueves/viernes/sábados/domingos, los fines de semana, por la
    tarde/mañana/noche
holds past: era, eran, fue, fueron, ayer, la semana pasada, estaba, tuve, tenía, hice, fui, he, ha sido
holds report: dice, dijo, según, dicen, al parecer, por lo visto, debe de, debería, deberían, tiene que ser, debes de,
    tengo que, tuvo que
holds once: este, esta, esto, hoy, mañana, ahora mismo, esta vez, el último, la última, ese, esa
holds talk: preocupes, suerte, ánimo, jaja, jajaja, genial, gracias, divertido, creo, pienso, me parece, qué pena
"""
)
