"""English."""

from __future__ import annotations

from .language import Language

ENGLISH = Language(
    name="English",
    code="en",
    needs_subject=True,
    common="""
    the, and, of, to, in, is, that, it, for, was, on, are, with, as, at, be, this, have, from, or, had, by, but,
    not, what, all, were, we, when, your, can, there, an, which, their, if, will, how, about, who, them, would, my,
    i, i'm, i've, you, do, don't, me, so, out, up, just, like, no, yes, a, he, she, his, her, they, our, am, im,
    any, some
    """,
    fillers="""
    and, also, hey, hi, hello, ok, okay, so, please, well, oh, btw, by the way, fyi, honestly, actually, just, but,
    because, since, though, plus, anyway, yes, yeah, no, you can, everyone, my friends, for the record, as i said,
    like i said, tbh, personally, basically, i think, i guess, i mean, you know, i must say, i have to say
    """,
    clause_words="""
    if, unless, whether, until, when, but, because, although, though, however, while, whereas, so that, except, even
    though, which is why, (so|and|then|but|) (what|which|can you|can i|could you|how|where|do you|should i|is it|are
    there|is there|any)
    """,
    numbers="one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, twenty, thirty, forty",
    subject="i, i'm, im, i've, ive, i'd, i'll, we, we're, we've, we'd, me and my *, my * and i, i myself",
    other="""
    you, you're, he, she, they, it, he's, she's, they're, it's, that, this, these, those, there, everyone, people,
    somebody, someone, nobody, who
    """,
    own="my, our, mine",
    articles="the, a, an",
    not_liked="""
    it, that, this, them, these, those, you, your, how, him, her, the way you, the idea, the new, to (know|see|ask|
    thank)
    """,
    be="i'm, i am, im, we are, we're",
    passing_ends="ing$",
    adverbs="""
    a bit, a little, kind of, kinda, sort of, so, too, very, quite, pretty, even, super, extremely, rather, usually,
    quite a, more, less, both, totally, really, also, just, still, actually, currently, not, honestly, always, now,
    no longer, never, basically, only
    """,
    negation="not, don't, dont, no longer, never, can't, cannot, doesn't, no",
    tastes="""
    watch, buy, listen, read, book, pay, shower, work out, exercise, nap, eat, drink, smoke, fly, travel, wake up,
    get up, go to bed, order, sit, cook, shop, start my day, take my coffee, have (breakfast|lunch|dinner|my coffee|
    coffee)
    """,
    moods="""
    cold, hot, full, baking, cooking, watching, eating, drinking, washing, walking, driving, sitting, standing,
    able, about, afraid, all, alone, alright, amazed, annoyed, anxious, asking, assuming, at, away, aware, back,
    behind, being, blessed, bored, busy, calling, certain, coming, confident, confused, considering, convinced,
    curious, delighted, determined, disappointed, doing, done, down, due, early, ecstatic, enjoying, excited,
    exhausted, feeling, fine, finished, free, frustrated, full of, getting, giving, glad, going, gonna, good,
    grateful, great, guessing, happy, having, heading, here, home, honoured, honored, hopeful, hoping, hungry,
    hyped, impressed, in, jealous, joking, keeping, keen, kidding, late, leaving, listening, looking, lost, loving,
    lucky, making, nervous, off, ok, okay, on it, on my way, on the, out, over, planning, pleased, positive, pumped,
    putting, ready, relieved, right, sad, saying, scared, seeing, sleepy, sorry, starting, staying, stoked, stuck,
    supposed, sure, surprised, taking, talking, thankful, there, thinking, thrilled, tired, to, trying, unable,
    unsure, up, upset, using, waiting, well, wondering, worried, wrong, sick of, stressed, overwhelmed, starving,
    freezing, drunk, hungover, running, writing, reading, debugging, working on, afraid that, not sure, not able,
    not going, not feeling, not trying, not saying, dying to, fed up, mad, angry, furious, new to this, new here,
    with you, interested, almost, already, finally, as
    """,
    strong="""
    would never, wouldn't (eat|drink|trade|touch|miss), could never, won't (eat|drink|touch|fly|use), should avoid,
    must (take|avoid), (would|'d) (describe|call) myself, live (in|at|on|near|with|alone|by|off|just|about|outside|
    close|next|an hour|together), am living, 'm living, work (as|at|for|in|nights|part|full|from|remotely|with|
    night|shifts|mostly), am working (as|at|for), 'm working (as|at|for), lived (in|with|abroad|there), worked (as|
    at|for|in), was (born|raised|adopted|diagnosed), (moved|relocated|emigrated) (to|from|here|back to|in with|in|
    out), grew up, come from, came (from|here), am from, 'm from, im from, originally from, was diagnosed, been
    diagnosed, was raised, allergic, intolerant, speak, majored in, graduated, studied, got (married|divorced|
    engaged|promoted|laid off|fired|my degree|a new job|a job|into), getting (married|divorced), am married, 'm
    married, (started|got|took|found|accepted) (working|a new job|a job|my own|a company|a business), changed jobs,
    (quit|left|lost|changed) my job, quit (smoking|drinking|sugar|my *), retired, collect, wear (glasses|contacts|a
    hearing|size|a size|braces|a), suffer from, take (medication|insulin|metformin|pills|vitamins|antidepressants|
    blood thinners|statins|meds), am on (insulin|medication|a diet|a gluten|a low|a keto|antidepressants|statins),
    volunteer, commute, teach, run (a|my|an|marathons|the), own (a|an|two|three|my|the), never (learned|learnt|been|
    had|finished|went), (have never|'ve never|never) (been|had|learned|learnt|tried|eaten|seen|flown|driven|owned|
    lived|met|broken|smoked), gave up, stopped (eating|drinking|smoking|working|using|going), don't (drive|own), do
    not (drive|own), can't (swim|drive|cook|tolerate|have), cannot (swim|drive|cook|tolerate), avoid, follow a,
    practice, practise, identify as, go by, (am|'m) (called|named), raised (by|in|on), adopted, bought (a|an|our|my)
    (house|flat|apartment|car|home|place|dog|first), freelance, served (in|as), play (in|for|bass|guitar|piano|
    drums|violin), sing in, am (learning|training|studying|saving|raising|expecting|pregnant), 'm (learning|
    training|studying|saving|raising|expecting|pregnant|working on my), have been (learning|training|studying|
    living|working|married|together|vegan|vegetarian|single), 've been (learning|training|studying|living|working|
    married|together|vegan|vegetarian|single), hope to become, descend from, immigrated, fast during, pray, was in
    the, broke (my|a|both), had (surgery|a stroke|a heart|an operation|a miscarriage|my * out|my * removed|cancer),
    lost (my|our) (dad|father|mom|mum|mother|brother|sister|son|daughter|husband|wife|grandmother|grandfather|
    grandma|grandpa|job|dog|cat)
    """,
    weak="""
    have, 've, got, 've got, have got, had, own, drive, ride, play, use, read, bake, run, go, take, wear, sleep,
    train, swim, hike, cycle, bike, bought, sold, lost, won, started, quit, left, finished, learned, learnt, speak,
    study, live, work, moved, moved to (the|a|an|my|our|your|his|her|their|its|it|this|that|another|next|using),
    recently moved, studied the, study (the|it|that|this|them|these|those|how), broke, met, married, built, wrote,
    paint, draw, write, sing, dance, garden, knit, sew, keep, grow, spend, earn, make, pay, share, rent, call,
    joined, switched, became, adopted, need, follow, visit, watch, listen, do, did, went, plan, planning, saved,
    save, been, was, are, were, belong, weigh, stopped, teach, manage, lead, host, ski, surf, climb, fish, camp,
    foster, care for, look after, carry, order, shop, weighed, went to, ran, stay, 'm on, am on, know, can, can't,
    cannot, don't, do not, never
    """,
    likes="""
    find * (exhausting|tiring|draining|awful|hard|tedious|fun|calming|soothing|creepy), find * * (exhausting|tiring|
    draining|awful|hard|tedious|fun|calming|boring|annoying|overrated), like it (when|if), love it (when|if), hate
    it (when|if), can't (function|do|deal|handle|start|live), find it (easier|hard|difficult|annoying|exhausting)
    (to|when), like, prefer, enjoy, love, dislike, hate, adore, can't stand, cannot stand, can not stand, can't
    bear, detest, despise, don't like, do not like, dont like, don't enjoy, do not enjoy, don't really like, don't
    care for, (would|'d) rather, (would|'d) much rather, 'd prefer, would prefer, am (a|a huge|a big|such a) fan of,
    'm (a|a huge|a big|such a|not a|not a big|no) fan of, (am|'m) (into|obsessed with|crazy about|fond of|partial
    to|addicted to|all about|big on|keen on|sick of|not into|not big on|really into|more of a|passionate about),
    loathe, can't live without, swear by, favour, fancy, always (order|choose|pick|go for|take|sit|use|book|buy|ask
    for), (tend|try) to avoid, appreciate, dread, don't (want you to|need|trust|bother with|do well with), find *
    (boring|annoying|gross|disgusting|relaxing|stressful|overrated|distracting|easier|hard|difficult|confusing|too),
    learn (best|better|by|most|faster), work (best|better), think * (is|are) (overrated|gross|disgusting), opt for,
    go for, gravitate (to|towards), care (about|more|deeply|a lot)
    """,
    favourites="""
    stress(es|) me out, (works|work) (better|best) for me, over coffee, over tea, over (beer|wine|calls|phone calls|
    meetings), (is|are) better than, (is|are) (overrated|underrated|the worst|the best), couldn't live without,
    can't live without, could eat * every day, could * all day, not big on, not into, (swear|live) by, is the best,
    are the best, (the|is the) worst, bores me, (bore|tire|annoy|scare|relax)s me, nothing beats, spare me, makes me
    (gag|queasy|nauseous|sleepy|itch|sneeze|break out|laugh), (i'd|would) (take|choose|pick) * over, gives me (the
    creeps|joy|energy|hives), the best (thing|part) about, (my|our) (favourite|favorite|favourites|favorites|favs|
    fave|go-to|preferred|least favourite|least favorite|ideal), my * (favourite|favorite), my * * (favourite|
    favorite), not a (fan|big fan|huge fan), big fan of, huge fan of, not (my thing|my cup of tea|for me), my guilty
    pleasure, my comfort food, my pet peeve, drives me (crazy|mad|nuts|insane), makes me (sick|happy|gag|anxious|
    uncomfortable), gives me (anxiety|headaches|a headache), works best for me, (too|way too) (sweet|spicy|loud|
    salty|bitter) for me, no (sugar|milk|meat|onions|mushrooms|small talk) for me, over * any day, any day over, is
    my (jam|thing|happy place|favourite|favorite|go to), are my (thing|jam|favourite|favorite), ^(can't stand|hate|
    love|prefer|dislike|enjoy|don't like|big fan|never liked), i'd rather, rather * than, suits me (best|better),
    (freaks|creeps|stresses) me out, puts me off, i'm not a morning, no thanks to
    """,
    standing="""
    don't (give|send|show|tell) me, dark mode, light mode, just (tell|give) me the, (short|brief) (answers|replies),
    from now on, in future, in the future, (always|never|please always|please never) (answer|reply|respond|write|
    use|call|give|send|show|address|speak|talk|ask|include|include|keep|format|start|explain|suggest|recommend|tell|
    put|remind|assume|make|book), don't (call|use|send|address|remind|suggest|recommend|give|ask|ever|start|add|
    include) (me|emojis|exclamation|small), ^(answer|reply|respond|speak|write|talk) (me|to me|in|with) *, (answers|
    replies|responses|explanations|messages|texts) (short|brief|concise|simple|formal|casual|informal|in), (keep|
    make) (it|your answers|answers|your replies|replies|responses|your responses|things) (short|brief|concise|
    simple|formal|casual|informal|professional), no (emojis|emoji|bullet|jargon|exclamation|fluff|small talk), use
    (metric|imperial|celsius|fahrenheit|british|american|simple|plain|kilometers|my first name|short|dark|24-hour|
    24), (skip|avoid|drop|leave out) the (emojis|small talk|intro|jargon|disclaimers|pleasantries|fluff|apologies),
    address me, refer to me as, (short|brief|concise|detailed) (answers|replies|responses|explanations) (only|
    please), step by step please, whenever you *
    """,
    facts="""
    just turned #, turned #, there are # of us, # of us, used to (be|work|play|own|have|smoke|teach|run), ^(had|
    lost|broke|lived|worked|used to be|born|studied|married|divorced|raised|never) (my|in|as|at|a|to|by|the|with|
    from), my (name|names|name's) (is|are)?, my name's, ^remember (that|:)?, ^(note|keep in mind|don't forget|do not
    forget|bear in mind|for your information|remember) that, please remember, i'm from, years old, year old (son|
    daughter|dog|cat|kid|boy|girl|twins), my (birthday|anniversary|time zone|timezone|mother tongue|native language|
    first language|e-mail|email|e-mail address|email address|phone number|mobile number|number|hometown|home town|
    pronouns|blood type|blood group|shoe size|zodiac sign|star sign|nickname|last name|first name|surname|maiden
    name|ethnicity|nationality|religion|salary|address|middle name|dress size|job title|degree|budget is|weight|
    height|username|handle|postcode|zip code), as (a|an) (single|vegetarian|vegan|diabetic|nurse|teacher|doctor|
    father|mother|dad|mom|mum|parent|student|freelancer|retiree|developer|lawyer|muslim|christian|jew|hindu|
    buddhist|coeliac|celiac|veteran|beginner|beginner|left|night|widow|widower|retired|stay at|wheelchair|manager|
    designer|german|spaniard|french|italian|brit|dutch|expat|non-native), i have been (a|an), i'm (allergic|left|
    right|vegan|vegetarian|diabetic|celiac|coeliac|married|single|divorced|widowed|pregnant|gay|lesbian|bi|trans|
    deaf|blind|dyslexic|autistic|color|colour|muslim|christian|jewish|hindu|atheist|retired|unemployed|lactose),
    runs in my family, in my (family|household|house|flat|team|company) (we|i|there|everyone|nobody), my day job,
    (retired|former|single|stay at home|proud) * here, ^(allergic to|born in|born and raised|mom of|mum of|dad of|
    father of|mother of|parent of|retired|married|divorced|vegetarian|vegan|self-employed|lactose intolerant|
    diabetic|never learned|never been|grew up|moved to|originally from|work as|work at|live in|based in)
    """,
    hints="""
    calls me, call me (papi|mama), ^call me, ^my friends call me, everyone calls me, people call me, you can call
    me, friends call me, for me
    """,
    kin="""
    supervisor, manager, wife, husband, spouse, partner, fianc(é|e|ée|ee), girlfriend, boyfriend, ex, ex wife, ex
    husband, son, sons, daughter, daughters, kid, kids, child, children, baby, twins, twin, toddler, mother, mom,
    mum, father, dad, parents, brother, brothers, sister, sisters, sibling, siblings, grandmother, grandma, gran,
    nan, granny, grandfather, grandpa, grandad, grandparents, grandson, granddaughter, grandkids, grandchildren,
    aunt, uncle, cousin, cousins, niece, nephew, mother in law, father in law, sister in law, brother in law, in
    laws, stepson, stepdaughter, stepmom, stepdad, stepfather, stepmother, godson, goddaughter, family, best friend,
    roommate, roommates, flatmate, housemate, landlord, landlady, boss, therapist, gp, dentist, dog, dogs, cat,
    cats, pet, pets, horse, rabbit, rabbits, hamster, parrot, puppy, kitten, guinea pigs, tortoise, goldfish, bird,
    *-year-old, eldest, youngest, oldest, middle one
    """,
    third="""
    uses, use, is (a|an|called|named|from|in|on|at|allergic|#|deaf|blind|autistic|pregnant|vegan|vegetarian|
    diabetic|retired|turning|studying|getting married|my), are (called|named|from|both|#|divorced|separated|retired|
    twins|allergic|dead), was (a|an|born|diagnosed|from|in), were (born|from|both), 's (name|names|birthday) (is|
    are), name is, names are, works, work, lives, live, has (a|an|two|three|been|asthma|diabetes|dementia|autism|
    adhd|allergies|cancer|celiac|#|her|his), have (a|been|two|three|#), studies, goes to, go to, plays, speaks,
    speak, teaches, runs, started, starts, moved, died, passed away, passed, turns, turned, turn, comes from, come
    from, hates, loves, prefers, likes, can't eat, doesn't (eat|drink|like|speak), owns, drives, had (a|an|two|
    surgery), got (a|married|divorced), attends, suffers, married, raised, wears, allergic, diabetic, needs
    (insulin|glasses|a wheelchair), used to, and i (live|own|run|have|got|met|are), are getting married, expecting,
    graduated, retired
    """,
    life="""
    arabic, spanish, french, german, italian, portuguese, english, dutch, chinese, mandarin, cantonese, japanese,
    korean, russian, hindi, tamil, polish, turkish, hebrew, swedish, greek, knees, back, heart, eyes, eyesight,
    hearing, skin, stomach, sleep, commute, salary, paycheck, rent, landlord, custody, allerg*, intoleran*, asthma,
    diabet*, epilep*, migraine*, adhd, autis*, dyslexi*, c(o|oe)eliac, celiac, coeliac, depress*, anxiety, insomnia,
    cancer, arthriti*, hypertens*, cholesterol, blood pressure, thyroid, tinnitus, asthmatic, sciatica, pacemaker,
    surgery, surgeries, hip, knee, spine, kidney, gallbladder, appendix, tattoo*, scar, glasses, contact lenses,
    hearing aid*, wheelchair, medication, insulin, vegan*, vegetarian*, pescatarian, gluten*, lactose, kosher,
    halal, keto, kid, kids, child, children, baby, twins, son, sons, daughter*, wife, husband, girlfriend,
    boyfriend, partner, fianc*, brother*, sister*, sibling*, parents, grand*, cousin*, niece*, nephew*, dog, dogs,
    cat, cats, pet, pets, puppy, horse*, rabbit*, hamster*, parrot*, chicken*, bees, goat*, tortoise, aquarium,
    single, married, divorced, widow*, engaged, pregnant, gay, lesbian, nurse, doctor, teacher, engineer, developer,
    programmer, lawyer, student, designer, accountant, electrician, plumber, carpenter, chef, cook, baker, waiter,
    waitress, pilot, driver, farmer, freelanc*, consultant, manager, scientist, researcher, professor, pharmacist,
    dentist, vet, veterinar*, journalist, translator, writer, artist, musician, photographer, architect, librarian,
    paramedic, firefighter, police*, soldier, mechanic, retired, retire*, self-employed, unemployed, degree, phd,
    master's, bachelor*, university, college, school, medicine, physics, law, biology, chemistry, history,
    philosophy, economics, psychology, math*, literature, piano, guitar, violin, cello, bass, drums, saxophone,
    flute, ukulele, trumpet, choir, band, orchestra, chess, football, soccer, tennis, basketball, volleyball,
    badminton, golf, yoga, pilates, gym, marathon*, climbing, hiking, cycling, swimming, running, sailing, diving,
    skiing, surfing, karate, judo, boxing, crossfit, knitting, gardening, painting, photography, pottery, origami,
    baking, podcast, poker, lego, vinyl, garden, allotment, house, apartment, flat, studio, balcony, farm, cabin,
    mortgage, car, motorbike, motorcycle, bike, ev, van, electric car, driving licence, driver's license, muslim,
    christian, catholic, protestant, jewish, buddhist, hindu, atheist, church, mosque, temple, ramadan, accent,
    dialect, native, bilingual, fluent*, language*, dual citizen*, citizen*, passport, immigrant*, shift, shifts,
    night shift*, home office, startup, company, business, shop, bakery, restaurant, blog, channel, pension, debt,
    coffee, tea, alcohol, meat, fish, pork, dairy, sugar, beer, wine, seafood, shellfish, nuts, peanuts, breakfast,
    left handed, left-handed, right handed, colorblind, colour blind, color blind, deaf, blind, heights, spiders,
    phobia, introvert*, extrovert*, morning person, night owl, early bird, vegan, wedding, honeymoon, anniversary,
    birthday, height, tall, kg, kilos, pounds, cm, veteran, army, navy, tattooed, adopted, foster, twin, youngest,
    oldest, only child, hometown, village, countryside, suburb*, third floor, fifth floor, elevator, macbook,
    iphone, team, office, workplace, android, linux, windows, mac
    """,
    habits="""
    always, never, usually, often, mostly, mainly, normally, typically, generally, rarely, seldom, hardly ever,
    only, no longer, anymore, any more, every (day|morning|evening|night|week|weekend|year|summer|winter|other|
    monday|tuesday|wednesday|thursday|friday|saturday|sunday|month|single|#), on (mondays|tuesdays|wednesdays|
    thursdays|fridays|saturdays|sundays|weekends|weekdays), (once|twice|# times|three times|a few times) a (day|
    week|month|year), mondays, tuesdays, wednesdays, thursdays, fridays, saturdays, sundays, weekends, in my (free|
    spare) time, after work, before work, at least, daily, weekly, since childhood, full time, part time, full-time,
    part-time, for a living, professionally, by trade, on the side, at home, before *, after #
    """,
    lasting="""
    since, for (#|a|many|over|almost|about|nearly|more than|several|most of|as long) *, for years, for ages, for a
    living, (#|a few|couple of|several|a) years ago, years, years now, decade*, ago, last (year|summer|winter|
    spring|fall|autumn|month|january|february|march|april|may|june|july|august|september|october|november|december),
    (in|since|around|back in) ##, ##, as a (kid|child|teenager|teen|baby|student), when i was, growing up, my whole
    life, all my life, my entire life, in my (teens|twenties|thirties|forties|fifties|sixties|childhood), once,
    originally, recently, in (january|february|march|april|may|june|july|august|september|october|november|
    december), this (year|spring|summer|fall|autumn|winter), next (year|spring|summer|fall), months ago, half my
    life, for the (first|last|past) *
    """,
    passing="""
    added, changed the, removed, fixed, finished (the|this|reading|it), had (pizza|lunch|dinner|breakfast|a
    sandwich|a salad|a coffee), cooked, (can|could) see, (am|'m) (cold|hot|full|lost), my * hurts, head hurts, i'll
    (be|take|try|do|go|have|get|let|check|send), picked up, pick up, (was|were) (at|in) the, was thinking, moved
    the, put the, set the, turned (it|on|off), (on|until|by|last) (monday|tuesday|wednesday|thursday|friday|
    saturday|sunday), just (woke|saw|ate|read|sent|realized|noticed|arrived|want|need|kidding), need (help|more|a|
    an|the|your|some|it|this|you|three|two|five|to|ideas|another), can't find, found (the|a|it|this), ^(i|we) see,
    is waiting (in|for|outside), are waiting, understand, don't get, (i|we) see (what|that|the|your|how|why|you|it),
    i mean, tried, ordered, sent, send, clicked, opened, downloaded, checked, check, want, wait, waiting, waited,
    feel (a|so|like|really|very|pretty|bad|sick|better|weird), appreciate (your|the|it|that), i remember, don't
    remember, can't remember, forgot, to the next *, headache, a cold, a fever, spilled, dropped, woke up,
    overslept, running (late|low|out), running out of time, got (an error|your|the|it|this|a message|an email|a
    call|stuck), keep (getting|seeing|forgetting the), agree, disagree, know (what|that|how|why|if|it), (don't|do
    not) (know|care|think|see|want|mean|understand|have time|worry), missed, lost my (keys|wallet|phone|train|
    temper), can't (find|open|log|access|see|seem|figure|decide|wait|sleep tonight|believe|get|hear|make), guess,
    (have|got) to (go|leave|run), bought (the|it|this) * yesterday, asked you, told you, said that, read (that|your|
    the|this|somewhere), saw (that|your|the|a), noticed, realized, updated, restarted, uploaded, copied, pasted,
    attached, followed the, getting (a|an|the|this|hungry|tired|late|cold), want to, wanna, going to, gonna,
    planning to, trying to, need to, have to, gotta, today, tonight, right now, at the moment, this
    (morning|afternoon|evening|week|weekend|second|minute), yesterday, tomorrow, just now, currently (trying|stuck|
    working on|looking|reading|writing), so far, in a (minute|second|moment|bit|meeting|hurry|call|rush|sec), later,
    last night, again, still waiting, hungry, on my way, for now, (about|almost) to, in an hour, next (week|weekend|
    monday|tuesday|wednesday|thursday|friday|saturday|sunday), the other day, earlier, a minute, an hour ago,
    minutes ago, hours ago, when you can, keep getting, (no|any|an|some|little|good|bad|great) (idea|ideas|time|
    problem|problems|doubt|luck), question*
    """,
    tasks="""
    battery, phone, laptop, wifi, internet, computer, printer, screen, charger, umbrella, step, steps, options,
    instructions, results, output, message, messages, price, train, bus, uber, taxi, weather, rain, shirt, error*,
    bug*, code, file, files, script, function, functions, build, build fails, query, log, logs, exception, stack
    trace, attachment, password, meeting, meetings, deadline, (a|the|my|this|that) report, document, presentation,
    slides, spreadsheet, essay, paragraph, sentence, draft, email to, cover letter, table for, reservation, flight,
    ticket, order, package, parcel, link, version, install*, compile*, crash*, homework, assignment, invoice,
    screenshot, pdf, idea, traffic, tab, tabs, page, command, server, database, update, problem, issue, archive
    """,
    ask="""
    ^(what|what's|whats|which|who|who's|whose|where|where's|when|why|how|how's|is|are|was|were|do|does|did|can|
    could|will|would|should|shall|have you|has|may|am i|any|isn't|aren't|don't you|doesn't|got any)
    """,
    request="""
    can you, could you, would you, will you, can i, could i, may i, should i, what should, how (do|can|should|would|
    to), help me, tell me, show me, give me, remind me, let me, let's, i need (a|an|some|to|your|help|you|the|it|
    this), i want (a|to|you|some|the), (i'd|i would) (like|love) (to|a|you|some), looking for, i wonder, wondering, i
    was wondering, i'm wondering, do you, are you, have you, did you, what do, thanks, thank you, any (ideas|tips|
    recommendations|advice|suggestions|idea), ^(write|translate|explain|show|give|find|list|create|summarize|
    summarise|make|fix|check|suggest|recommend|compare|draft|rewrite|help|tell|describe|generate|convert|add|remove|
    remind|schedule|order|send|open|correct|proofread|search|look|calculate|define|read|analyze|review|book me|set|
    plan|sum|think of|come up|continue|finish|edit|delete|update|run|try|act|play the|pick|name|rank|paraphrase|
    shorten|improve)
    """,
    suppose="""
    if, unless, whether, wish, would, i'd, might, (i|we|it) may, may be, maybe, perhaps, could,
    should, must, hope, hoping, hopefully, thinking (of|about), considering, tempted, feel like, i'll, i will,
    we'll, ought to, i thought, i think you, i think (it|this|that|we|the), i feel, i believe, i guess, seems, looks
    like, in the (movie|book|novel|story|game), in my dream, i dreamt, i dreamed, as if, like i'm, remember that
    (day|night|one|song|thing|time|movie|film|book|guy|when), remember to, forgot, forget to, nobody says, not that
    i, wouldn't, couldn't, kidding, jk, sarcasm, than i
    """,
    reported="""
    suppose, supposing, imagine, pretend, let's say, say i, assuming, say, says, said, saying, told (me|us|him|her),
    tells, asks, asked, claims, claimed, thinks, thought, wrote, writes, replied, according to, apparently, i heard,
    i read that, i've heard, they say, people say, quote, quotes, mentioned, announced, complained, insists,
    believes
    """,
    void="""
    in room *,
    couldn't live without, could eat, could (spend|live|watch|listen|read|talk) *, would never, wouldn't (eat|drink|
    trade|touch|miss), could never, won't (eat|drink|touch|fly|use), would describe myself, would call myself,
    should avoid, should not eat, must (take|avoid), need (glasses|subtitles|coffee|quiet|silence|insulin|eight|at
    least|closed|my|a wheelchair|to avoid|to take|large|low), (try|trying|tried) to (eat|avoid|lose|quit|stop|cut|
    learn|sleep|walk|run|stay|drink|save|live|keep|limit|conceive), opened (a|my|our), have to (take|avoid|wear|
    inject), want to (learn|become), working towards, in (a|my|recovery|therapy|tech|sales|finance|marketing|school|
    college|remission|charge|the army|love|real|education|high|grad|year|med|nursing) *, at (university|uni|college|
    risk|school), (good|bad|terrible|great|awful|better|hopeless|useless|rubbish) (at|with), (afraid|scared|
    terrified|fond|proud) of, on the (spectrum|board|autism), writing (a novel|a book|my thesis|my dissertation|my
    memoir|a phd), seeing (a|someone), getting (married|divorced|a dog|a cat|a puppy), looking after, running (a|
    the|my), using (a|an|the|my) *, reading a lot, interested in, full time, making my own, home (schooled|alone),
    free on, behind on, in a meeting, early (riser|bird), in a hurry, over (#|sixty), moved to (the|a|an|my|our|
    your|his|her|their|its|it|this|that|another|next|using), (would|'d|i'd) (rather|prefer|much rather), not that *,
    go to (bed|sleep|the)
    """,
)
