"""The vocabulary itself, as text; ``vocabulary`` says what it means and reads it."""

TABLE = """
toilets
    洗手间, 厕所, 卫生间, 洗手間, トイレ, お手洗い, 화장실, toilet, toilets, toilettes, toiletten, toaleta,
        wc, w.c., restroom,
        restrooms, rest room, washroom, washrooms, bathroom, lavatory, lavatories, loo, ladies, gents, women, men,
        damen, herren, femmes, hommes, dames, heren, aseos, servicios, banos, bagni, sanitarios
    asked: wash your hands, wash my hands, powder room, little girls room, little boys room, men's room, ladies'
        room, freshen up
exit
    出口, 출구, exit, way out, ausgang, sortie, uscita, salida, saida, uitgang, utgang, udgang, wyjscie, exit only
    asked: leave the building, leave the hall, leave the room, leave the shop, leave the store, leave the station,
        leave the library, leave the terminal, get out, go out, go outside, get outside, way outside, leave through
    near: notausgang, street
emergency exit
    emergency exit, fire exit, notausgang, sortie de secours, issue de secours, uscita di emergenza, salida de
        emergencia, nooduitgang
    asked: escape route, in case of fire, evacuate
    near: exit
entrance
    入口, 입구, entrance, entry, eingang, entree, entrata, ingresso, entrada, ingang, way in
    asked: get in, go inside
lift
    电梯, 電梯, エレベーター, lift, lifts, elevator, elevators, aufzug, aufzuge, fahrstuhl,
        ascenseur, ascenseurs, ascensore,
        ascensor
    asked: without climbing stairs, wheelchair
stairs
    楼梯, 階段, stairs, stair, staircase, stairway, stairwell, steps, treppe, treppenhaus, escalier, escaliers, scale,
        escaleras, trappen
    asked: go upstairs, go downstairs, climb to the next floor
    near: floor
escalator
    escalator, escalators, rolltreppe, escalator up, escalier mecanique, scala mobile
information
    服务台, 问讯处, 咨询, 案内所, information, info, infos, i, info point, information desk,
        help desk, helpdesk, enquiries,
        inquiries, auskunft, informations, informazioni, informacion, reception, customer service, service desk,
        help point
    asked: ask a question, ask for help, ask somebody, ask someone, ask the staff, someone who can help, service
        point
reception
    reception, front desk, receptie, empfang, accueil, rezeption, check in desk
    asked: announce yourself, sign in as a visitor, report as a visitor
    near: information, visitors
cloakroom
    cloakroom, cloakrooms, wardrobe, garderobe, vestiaire, guardaroba, coat check
    asked: hang up your coat
lockers
    lockers, locker, luggage lockers, left luggage, luggage storage, schliessfacher, schliessfach, consigne,
        gepackaufbewahrung, deposito bagagli
    asked: store your luggage, leave your luggage, lock away, stow your bag
first aid
    first aid, erste hilfe, premiers secours, infirmary, medical, nurse, aed, defibrillator
    asked: injured
meeting room (numbered)
    meeting room, conference room, meeting, conference, besprechung
office (numbered)
    office, offices, buro, bureau, ufficio
laboratory (numbered)
    laboratory, laboratories, lab, labs, labor
lecture hall (numbered)
    lecture hall, auditorium, horsaal, lecture theatre, aula, theatre
room (only numbered)
    room, rooms, raum, zimmer, salle, sala, stanza, rm
floor (only numbered)
    floor, level, etage, stock, piano, storey
kitchen
    kitchen, kitchenette, tea kitchen, pantry, kuche, cuisine
    asked: make tea, make coffee, fridge
copy room
    copy room, copier, copiers, copies, print, printer, printers, printing, photocopier, scanner
    asked: print something, make a copy, photocopy
stairs down
    basement, cellar, untergeschoss
prayer room
    prayer room, chapel, quiet room, multi faith, gebetsraum
baby care
    baby care, baby changing, nursery, wickelraum, baby room
    asked: change a nappy, change the baby, change a diaper
smoking area
    smoking area, smoking, raucherbereich, fumeurs
no smoking
    no smoking, rauchen verboten, defense de fumer, vietato fumare
telephone
    telephone, telephones, phone, phones, payphone, telefon
    asked: make a phone call, make a call
fire extinguisher
    fire extinguisher, extinguisher, feuerloscher, extincteur, estintore
water
    drinking water, water, trinkwasser, eau potable, water fountain, drinking fountain
    asked: fill your bottle
parking
    parking, car park, parkplatz, parkhaus, parcheggio, aparcamiento, p
    asked: your car, parked car, parked your car
bicycles
    bicycles, bikes, bike parking, fahrrader, velos, cycles
    asked: your bike, your bicycle
platform (numbered)
    platform, platforms, track, tracks, gleis, gleise, bahnsteig, bahnsteige, voie, voies, quai, quais, binario,
        binari, anden, via, spoor, perron, tracks to trains, to trains, trains, to the trains
    asked: train leaves from, take a train, take the train, catch a train, catch the train, catch your train, board
        the train, board a train, get on a train
tickets
    售票处, 售票, きっぷ, tickets, ticket, ticket office, tickets office, ticket machines,
        ticket machine, ticket counter,
        fahrkarten, fahrausweise, billets, billetterie, guichet, biglietti, biglietteria, billetes, taquilla, travel
        centre, travel center, reisezentrum, tickets & information
    asked: buy a ticket, buy your ticket, buy tickets, get a ticket, need a ticket
gate (numbered)
    gate, gates, flugsteig, flugsteige, porte, portes, puerta, puertas, uscite, departure gate
terminal (numbered)
    terminal, terminals, aerogare
check-in
    check in, check-in, checkin, check in desk, check in counters, bag drop, baggage drop
    asked: drop your bag, drop your luggage, drop off your bag
departures
    departures, departure, abflug, abfahrt, departs, partenze, salidas, abfluge
    asked: when your train leaves
arrivals
    arrivals, arrival, ankunft, arrivees, arrivi, llegadas
    asked: pick somebody up, meet somebody who arrives
baggage claim
    baggage claim, baggage, luggage, baggage reclaim, gepack, gepackausgabe, bagages, bagagli
    asked: collect your suitcase, pick up your suitcase, collect your luggage
security
    security, security check, security control, sicherheitskontrolle, controle de securite, guard, wachdienst
customs
    customs, zoll, douane, dogana, nothing to declare
passport control
    passport control, passports, passkontrolle, immigration, border control
waiting room
    waiting room, waiting area, warteraum, wartesaal, salle d'attente, lounge, sala d'attesa
    asked: wait for your train, sit and wait
bus (numbered)
    bus, buses, bus stop, busbahnhof, autobus, coaches
    asked: take a bus, catch a bus, take the bus, catch the bus
taxi
    taxi, taxis, cab, cabs, taxi rank
    asked: get a cab, take a cab, hail a cab
metro (numbered)
    metro, subway, underground, u-bahn, ubahn, tube, s-bahn, u bahn, s bahn, metropolitana
    near: line
tram (numbered)
    tram, trams, streetcar, strassenbahn, tramway
car rental
    car rental, car hire, rental cars, mietwagen, location de voitures
    asked: rent a car, hire a car
hotel
    hotel, hotels, inn, hostel
checkout (numbered)
    checkout, checkouts, check out, cash desk, cash register, cashier, till, tills, kasse, kassen, caisse, caisses,
        cassa, casse, caja, cajas, pay here, please pay here, kassa, self checkout
    asked: pay, pay for, paying, to pay
fitting rooms
    fitting room, fitting rooms, changing room, changing rooms, umkleide, umkleidekabinen, anprobe, cabines
        d'essayage, dressing room
    asked: try on, try it on, trying on
cafe
    cafe, coffee, coffee shop, coffee bar, cafeteria, kaffee, caffe, espresso, espresso bar, coffeehouse, bistro
    asked: drink a coffee, cup of coffee, have a coffee, something hot to drink
restaurant
    restaurant, restaurants, food, food court, canteen, dining, mensa, ristorante, dining hall, dining room, bistro,
        eatery, kantine
    asked: something to eat, have lunch, eat lunch, have dinner, get lunch
    near: pizza, burger, snacks, cafe
bar
    bar, pub, drinks
bakery
    bakery, bakers, baker, backerei, boulangerie, panetteria, panaderia, backshop, bread
    asked: buy bread, fresh bread, bread rolls, loaf of bread, loaf
bread
    bread, brot, pain, bakery
    asked: loaf, rolls, toast, baguette
fruit and vegetables
    fruit, fruits, vegetables, fruit & vegetables, fruit & veg, obst, gemuse, obst & gemuse, legumes, produce,
        greengrocer
    asked: apples, bananas, tomatoes, potatoes, salad, carrots, oranges, lettuce, an apple
dairy
    dairy, milk, cheese, dairy products, milch, molkerei, molkereiprodukte, lait, fromage, yoghurt, yogurt
    asked: butter, cream, a bottle of milk
meat
    meat, butcher, butchers, fleisch, metzgerei, boucherie, deli, sausages, charcuterie
    asked: ham, steak, beef, chicken
fish
    fish, seafood, fisch, poisson, fishmonger
frozen
    frozen, frozen food, tiefkuhl, surgeles, ice cream, frozen foods
    asked: frozen pizza
drinks
    drinks, beverages, getranke, boissons, soft drinks, bevande, juice, juices
    asked: something to drink, lemonade, a bottle of water
wine
    wine, wines, wein, vin, vins, spirits, beer, beers, wine & beer
    asked: a bottle of wine
sweets
    sweets, candy, chocolate, confectionery, susswaren, snacks, biscuits, confiserie, sweet
    asked: chocolates, cookies
breakfast
    breakfast, cereal, cereals, muesli, honey, jam
    asked: cornflakes, porridge
pasta
    pasta, rice, pasta & rice, noodles, nudeln
    asked: spaghetti
coffee and tea
    coffee, tea, coffee & tea, kaffee, tee
    asked: tea bags
household
    household, cleaning, haushalt, detergents, cleaning products, laundry
    asked: soap, washing powder, sponges
cosmetics
    cosmetics, beauty, health & beauty, kosmetik, perfume, perfumes, parfum, drugstore, drogerie, toiletries
    asked: shampoo, toothpaste
pets
    pet food, pets, pet, tiernahrung, pet care
    asked: cat food, dog food
pharmacy
    pharmacy, pharmacie, apotheke, chemist, drugstore, farmacia
    asked: medicine, medicines, prescription, painkillers, aspirin
newsagent
    newsagent, newsagents, news, newspapers, press, presse, kiosk, magazines, zeitschriften, zeitungen, newsstand,
        bookshop, books, press & books, tabac
    asked: buy a newspaper, buy a magazine, sells newspapers, something to read
bookshop
    bookshop, bookstore, books, buchhandlung, librairie, book shop
    asked: buy a book
flowers
    flowers, florist, florists, blumen, fleurs, flower shop, fiori
    asked: bunch of flowers, buy flowers, bouquet
clothes
    clothes, clothing, fashion, mode, ladies wear, menswear, apparel, kleidung
    asked: buy a shirt, a jacket
shoes
    shoes, schuhe, chaussures, footwear
toys
    toys, toy, spielwaren, spielzeug, jouets, games
    asked: buy a toy
electronics
    electronics, elektronik, computers, tv, phones, electronique
    asked: batteries, a charger
stationery
    stationery, papeterie, schreibwaren, paper, pens, office supplies
    asked: a pen, pencils, notebooks
sports
    sports, sport, outdoor, sportswear
garden
    garden, gardening, plants, garten
offers
    offers, special offers, special offer, offer, sale, angebote, reduced, deals, angebot
    asked: bargain
returns
    returns, returns desk, refunds, exchanges, customer service
    asked: return something, bring something back, give back
baskets
    baskets, trolleys, carts, shopping carts, einkaufswagen
    asked: shopping basket, shopping cart, a trolley
bottle return
    bottle return, leergut, pfand, deposit return
    asked: return bottles, empty bottles
cash machine
    cash machine, atm, cash, geldautomat, bancomat, cashpoint, bankomat, distributeur
    asked: withdraw money, get cash, get some money, withdraw cash
currency exchange
    exchange, currency exchange, change, bureau de change, wechselstube, cambio
    asked: change money
bank
    bank, banque, banca, sparkasse
post office
    post office, poste, mail, postamt
    asked: post a letter, send a parcel, send a letter, stamps
library
    library, libraries, bibliothek, bibliotheque, biblioteca, bucherei
reading room
    reading room, lesesaal, salle de lecture, reading area, reading rooms, sala di lettura
loans
    loans, loan, circulation, issue desk, lending, borrow, borrowing, checkout, ausleihe, pret, self service loans,
        circulation desk, loans & returns, check out
    asked: borrow a book, take out a book, lend, borrowing a book
book returns
    returns, return, book return, book returns, book drop, ruckgabe, retours, returns & loans
    asked: return a book, return books, return the books, bring books back, return your book, return your books,
        bring back a book, give back a book, hand back
catalogue
    catalogue, catalog, catalogues, opac, katalog, search catalogue
    asked: look up a book, search for a book
children
    children, kids, childrens books, children's books, kinder, kinderbucher, enfants, jeunesse, picture books
    asked: picture book, fairy tales, for a child, for your child
fiction
    fiction, novels, romane, belletristik, romans, novel, literature
    asked: a novel, read a story
crime
    crime, thriller, thrillers, krimi, mystery, crime & thriller
    asked: detective story, detective novel, murder mystery
poetry
    poetry, poems, lyrik, poesie
    asked: a poem
science fiction
    science fiction, sci-fi, fantasy, sci fi
history
    history, geschichte, histoire, storia
    asked: book about the romans, the middle ages, the war, past centuries
geography
    geography, maps, atlases, geographie, erdkunde
    asked: a map, an atlas
travel
    travel, travel guides, travels, reisen, reise, voyage
    asked: travel guide, a guidebook, holiday
science
    science, sciences, natural sciences, wissenschaft, naturwissenschaften
    asked: experiments
physics
    physics, physik, physique
    asked: quantum, relativity, about gravity
astronomy
    astronomy, space, astronomie
    asked: stars, planets, the moon, galaxies
chemistry
    chemistry, chemie, chimie
biology
    biology, biologie, nature, natur, natural history
    asked: animals, birds, insects, about plants
mathematics
    mathematics, maths, math, mathematik, mathematiques
    asked: algebra, geometry, calculus
computing
    computing, computers, computer science, informatik, programming, informatique
    asked: learn python, write programs
computer workstations
    computers, computer, internet, workstations, pcs, computer room
    asked: use a computer, go online, surf the web
philosophy
    philosophy, philosophie
    asked: about kant, about plato
religion
    religion, theology, theologie
psychology
    psychology, psychologie
    asked: about the mind
law
    law, recht, jura, droit
    asked: about laws
economics
    economics, business, wirtschaft, economie
    asked: about money
medicine
    medicine, health, medizin, medecine
    asked: about diseases
art
    art, arts, kunst, painting, arte, architecture, beaux arts
    asked: about painters, about paintings
music
    music, musik, musique, musica, cds
    asked: scores, sheet music
films
    films, film, dvd, dvds, movies, cinema
    asked: watch a film, a movie
cooking
    cooking, cookery, cookbooks, kochen, food & drink, cuisine
    asked: recipe, recipes, cookbook
languages
    languages, sprachen, language, langues, dictionaries, linguistics
    asked: learn a language, dictionary
biography
    biography, biographies, biografien, lives
    asked: life of a, memoir
journals
    journals, periodicals, magazines, newspapers, zeitschriften, zeitungen, press, periodiques
    asked: read a magazine, read the newspaper, read a newspaper
reference
    reference, encyclopedias, encyclopaedias, nachschlagewerke, lexica
    asked: encyclopedia, encyclopaedia, look something up
comics
    comics, comic, graphic novels, manga, mangas
archive
    archive, archives, special collections, archiv
study area
    study area, study rooms, group study, silent study, quiet study, group room, quiet area, silent area, ruhezone,
        lernzone, study
    asked: study in silence, work in silence, study in a group
exhibition
    exhibition, exhibitions, ausstellung, gallery, exposition, galerie, museum
shop
    shop, store, museum shop, gift shop, souvenirs, boutique, gifts
    asked: buy a souvenir
emergency department
    emergency, a&e, accident & emergency, notaufnahme, urgences
    asked: see a doctor at once
x-ray
    x-ray, xray, radiology, rontgen, radiologie
    asked: have an x-ray
ward (numbered)
    ward, wards
aisle (only numbered)
    aisle, aisles, gang, row, shelf, regal, bay
counter (only numbered)
    counter, counters, schalter, desk
"""

STOP_WORDS = """
    a an the of for to from at by and or is are be it its this that these those there here you your yours we our
    my me find locate look search see spot show direction which way where should must can could would walk go
    get reach head turn follow take enter into want need like please whose has have had do does did nearest next
    closest other big small large tall short long lone round square little wide narrow old new main white black
    grey gray brown dark light bright red orange yellow green blue purple pink golden silver wooden metal glass
    brick stone plastic sign signs signboard sign's label labelled labeled board panel notice writing written
    printed name named called says word words letters thing place side end door doors double person man woman
    boy girl somebody someone something one two building street leave leaves sell sells sold walking walks
    standing hanging running sitting carrying pulling covered seen along across inside full closed open three
    four five six seven eight nine ten with above below under beneath behind front left right through up down
    out off
"""
"""Words of instructions that no sign is known by."""
