-- The signs by which memory.needs_memory() judges a request, with their weights and phrases. The function adds the
-- weights of the signs that a request shows; a sum of at least 0.5 means that the request needs a search. The weights
-- were chosen with the half of tests/context/needs_memory.jsonl that is for tuning.

-- The signs with their weights and with the words that describe them in a reason. A reference, a particular thing, an
-- event and "you said" do not count if the recent messages of the thread name what the request refers to; then a
-- missing parameter does not count either.
create or replace function memory._request_signs()
returns table (sign text, weight numeric, says text)
language sql immutable parallel safe
begin atomic
  select s.* from (values
    -- Only a past conversation has the answer, so one phrase is enough, and no other sign outweighs this sign.
    ('recall', 1.5, 'refers to an earlier conversation'),
    -- The phrases of the policy. An administrator chose them, but "last time" also stands in questions about the world.
    ('trigger', 0.8, 'has a phrase of the policy''s knowledge_base.search_triggers'),
    ('habit', 0.8, 'refers to a habit of the user'),
    -- "You said" mostly refers to this conversation, if this conversation has earlier messages.
    ('said before', 0.8, 'refers to something that was said'),
    -- This sign is enough alone, but not in "how do I clean my keyboard", or beside an identifier that says which thing
    -- is meant.
    ('own', 0.5, 'is about something of the user'),
    ('own fact', 0.4, 'asks for a fact about something of the user'),
    ('own past', 0.6, 'asks about what the user did, has or wants'),
    ('taste', 0.6, 'depends on what the user likes'),
    ('reference', 0.6, 'refers to something that it does not name'),
    -- The user has one particular thing in mind: "the DB", "the report".
    ('particular', 0.5, 'means one particular thing and does not say which'),
    -- "Did the landlord reply", "does Sarah eat fish": to answer, a model must know the people around the user.
    ('event', 0.5, 'asks about somebody or something in the life of the user'),
    -- The name alone is reason enough, also beside another name: the user has spoken of the named person or thing, and
    -- the context does not show that.
    ('remembered', 0.8, 'names something that earlier conversations or memories know'),
    ('parameter', 0.5, 'does not say with what, where or for whom'),
    -- Each of the next four signs alone outweighs most other signs, but not two of them.
    ('harmless', -0.6, 'has words that only look like a reference'),
    ('how-to', -0.6, 'asks for general knowledge'),
    ('telling', -0.7, 'tells something and asks nothing'),
    ('data', -0.8, 'brings its own data'),
    ('quotation', -0.4, 'quotes what it is about'),
    -- The server stores what the user tells, so such a request needs no search, whatever else the request mentions.
    ('to remember', -1.2, 'says something to remember'),
    ('greeting', -1.5, 'is a greeting or thanks'),
    -- Details make a request concrete. One number ("tomorrow at 9") says less than an identifier.
    ('identifier', -0.5, 'names exactly what it is about'),
    ('known name', -0.4, 'names something that the recent messages know'),
    ('name', -0.3, 'names what it is about'),
    ('number', -0.2, 'gives figures'),
    -- The function knows no phrases in this script. A needless search costs less than a missing memory.
    ('unknown script', 0.5, 'is in a script whose signs are not known')
  ) as s (sign, weight, says);
end;

-- The phrases of the sign greeting, spelled as below. Contexts read these alone, because a session takes 1 ms to plan a
-- statement with all phrases.
create or replace function memory._greetings()
returns text[]
language sql immutable parallel safe
begin atomic
  select '{^ hi,^ hello,^ hey,^ good morning,^ good evening,^ thanks,^ thank you,^ bye,^ ok,^ okay,^ lol,'
    '^ cool,^ perfect,^ great,^ hallo,^ guten morgen,^ guten tag,^ danke,^ vielen dank,^ hola,^ buenos días,'
    '^ gracias,^ muchas gracias,^ bonjour,^ bonsoir,^ salut,^ merci,^ ciao,^ buongiorno,^ grazie,^ olá,^ bom dia,'
    '^ obrigado,^ obrigada,你好,您好,谢谢,再见,こんにちは,ありがとう}'::text[];
end;

-- The phrases that show a sign, in the spelling of memory._request_words(): lower case, single spaces, no punctuation
-- but "?". "^" is the beginning of a sentence, "$" the end of the request. The languages after English are German,
-- Spanish, French, Italian and Portuguese, and the languages that are written without spaces.
create or replace function memory._request_phrases()
returns table (sign text, phrases text[])
language sql immutable parallel safe
begin atomic
  select p.* from (values
    ('recall', '{you remember,remember when,remember what,remember how,remember where,remember which,remember who,'
      'last time we,last time you,last time i,earlier you,you promised,you once,we talked,we discussed,we agreed,'
      'we decided,we mentioned,we spoke,we said,did we discuss,did we decide,did we agree,did we talk,did we say,'
      'did i tell,did i say,did i mention,have i told,i told you,i already told,i mentioned,i explained,'
      'i already explained,as discussed,as agreed,as i said,like i said,previous conversation,previous chat,'
      'earlier conversation,last conversation,last chat,last session,where we left off,where we stopped,'
      'where i left off,remind me what,remind me who,remind me which,remind me where,remind me when,remind me how,'
      'remind me of,refresh my memory,the other day,yesterday,from last week,from last month,from this morning,'
      'last ticket}'::text[]),
    ('recall', '{weißt du noch,erinnerst du dich,erinnere mich,letztes mal,beim letzten mal,das letzte mal,'
      'haben wir besprochen,wir besprochen,dir erzählt,wie besprochen,neulich,te acuerdas,recuerdas,recuérdame,'
      'la última vez,te dije,te conté,hablamos,conversación anterior,tu te souviens,te souviens tu,vous souvenez,'
      'rappelle moi,la dernière fois,je t ai dit,avons nous parlé,on a parlé,nous avons parlé,l autre jour,ti ricordi,'
      'ricordami,l ultima volta,ti ho detto,abbiamo parlato,você lembra,lembra se,me lembre,última vez,te disse,'
      'conversamos,记得,上次,之前,我说过,讨论了,聊过,前回,覚えて}'),

    ('said before', '{you said,you told,you mentioned,you gave me,you recommended,you suggested,you showed,you wrote,'
      'you described,told me,described to you,du gesagt,dir gesagt,dijiste,tu as dit,mi hai detto,você disse,你说过}'),

    ('habit', '{usual,usually,as always,like always,we always,i always,always do,like last time,as last time,'
      'same as last,last year,last week,the way i like,the way we,my style,back to what it was}'),
    ('habit', '{wie immer,das übliche,wie üblich,wie gewohnt,wie letztes mal,como siempre,lo de siempre,de costumbre,'
      'lo habitual,d habitude,comme toujours,come sempre,il solito,la solita,como sempre,o de sempre,'
      '平时,老样子,跟以前一样,いつもの}'),

    ('own', '{my,mine,our,ours,for me,about me,am i,are we,mom,mum,dad,grandma,grandpa}'),
    ('own', '{mein,meine,meinen,meinem,meiner,meines,unser,unsere,unserer,habe ich,bin ich,mag ich,mi,mis,mío,mía,'
      'nuestro,nuestra,mon,ma,mes,notre,nos,mio,mia,miei,mie,nostro,nostra,meu,minha,meus,minhas,'
      '我的,我们的,我叫什么,我喜欢,私の,僕の}'),

    ('own fact', '{what is my,what are my,where is my,where are my,when is my,when does my,who is my,which of my,'
      'how is my,how old is my,is my,has my,does my,what is our,is the name of my,my favorite,my favourite,my order,'
      'my package,my subscription,my payment,my delivery,my account,my plan,my appointment,my booking,my warranty,'
      'my ticket,know about me,remember me,who am i,for me ?}'),
    ('own fact', '{wie heißt mein,wie heißt meine,was ist mein,was ist meine,wo ist mein,wo ist meine,wann ist mein,'
      'cómo se llama mi,cuál es mi,cuándo es mi,dónde está mi,quelle est ma,quel est mon,où est mon,où est ma,'
      'come si chiama,qual è il mio,nome do meu}'),

    ('own past', '{did i,have i,had i,was i,do i like,do i prefer,do i wear,do i weigh,do i want,do i own,do i use,'
      'do i take,do i live,do i work,do i have,do i owe,do we,have we,had we,did we,were we,i bought,i ordered,'
      'i booked,i had,i did,i used,i liked,i was working,i am writing,i was supposed,we fixed,we use,we know,we chose,'
      'on file}'),
    ('own past', '{habe ich schon,habe ich bereits,wann habe ich,hatte ich,habe ich ?,ya pagué,he pagado,pagué,compré,'
      'pedí,tengo que,uso ?,ai je,j ai déjà,est ce que j ai,avais je,je fais ?,je porte ?,ho già,eu já}'),

    ('taste', '{recommend,recommend me,suggest me,should i cook,should i eat,should i wear,should i read,'
      'should i watch,i would enjoy,i d enjoy,i like ?,i like $,gift ideas,plan my,can i afford,soll ich kochen,'
      'soll ich heute,soll ich lesen,empfiehl,me recomiendas,recomiéndame,me conseilles,me recommandes,mi consigli,'
      'me recomenda}'),

    ('reference', '{it,them,they,him,her,he,she,those,these,^ this,do this,that one,this one,^ that,is that,was that,'
      'that file,that fix,that thing,that script,that error,that library,the thing,the one,the other,the second,'
      'the first one,the last one,the same,same settings,the two,the rest,the former,the latter,the guy,the person,'
      'as before,like before,too $,continue $,go on $,go ahead,try again $,once again,same again,tell me more,^ more,'
      'and now,did you,^ yes}'),
    ('reference', '{das ding,mach das,das wieder,es wieder,funktioniert das,geht das,hazlo,ça marche,fais le,fais ça,'
      '它,那个,这个}'),
    ('reference', '{le $,la $,les $,lui $,ça $,cela $,celui ci,celui là,celle ci,celle là,refais,encore une fois,'
      'la même chose,comme avant,isso,isto,ele,ela,eles,elas,lo $,los $,lhe,de novo $,outra vez,a mesma coisa,'
      'como antes,di nuovo $,ancora una volta,la stessa cosa,lo stesso,come prima,quello $,questo $,fallo,rifallo,'
      'mandalo,invialo,aprilo,riavvialo,cancellalo,eliminalo,mandaglielo,他,她,再来一次,再试一次,再做一次,继续,刚才,'
      'それ,あれ,これ,その,あの,彼,もう一度,続けて,同じ,さっき}'),

    -- Chinese and Japanese have no articles, so their nouns stand here alone.
    ('particular', '{数据库,服务器,报告,文件,文档,项目,会议,合同,订单,包裹,发票,预订,航班,酒店,密码,邮件,脚本,测试,错误,分支,'
      '仓库,账单,データベース,サーバー,報告書,レポート,ファイル,書類,プロジェクト,会議,契約,注文,荷物,請求書,予約,ホテル,'
      'パスワード,メール,スクリプト,テスト,エラー,ブランチ,リポジトリ}'),

    ('parameter', '{^ book,^ reserve,^ deploy,^ send,^ text,^ call,^ message,^ email,^ order,^ pay,^ buy,^ schedule,'
      '^ create a ticket,^ publish,^ connect,^ upgrade,^ play,^ drive,^ log in,^ cancel,i need an appointment,'
      'the weather tomorrow,the weather today}'),
    ('parameter', '{^ réserve,^ envoie,^ déploie,^ appelle,^ paie,^ achète,^ planifie,^ connecte,^ annule,^ publie,'
      '^ envie,^ mande,^ implante,^ ligue,^ compre,^ pague,^ agende,^ conecte,^ cancele,^ publique,^ prenota,^ invia,'
      '^ manda,^ distribuisci,^ chiama,^ paga,^ compra,^ connetti,^ connettiti,^ collegati,^ annulla,^ pubblica,'
      '发送,部署,打电话,付款,连接,取消,送って,デプロイして,電話して,支払って,接続して,キャンセルして,予約して}'),

    ('harmless', '{it is raining,is it raining,did you know,it is snowing,is it safe,is it normal,is it possible,'
      'is it ok,is it okay,is it true,is it better,is it bad,is it worth,is it legal,is it a good idea,'
      'does it make sense,it take,it means,what time is it,the last time,never again,once it,after it,when it,if it}'),

    ('how-to', '{how do i,how can i,how do you,how to,how should,how long do i,how many days do i,do i need to,'
      'do i have to,where do i,where can i,why do,can i take,can i pay,should i use,what happens if,'
      'what is the difference,what is a,what is an,what does a,what does the,what does this,what are common,explain,'
      'translate,define,who wrote,what can i cook,a good name for,the meaning of,a synonym,übersetze,erkläre,'
      'wie kocht man,explícame,traduce,cómo se hace,explique moi,traduis,comment faire}'),
    ('how-to', '{comment puis je,comment on,comment fonctionne,comment cuire,comment préparer,pourquoi,qu est ce que,'
      'qu est ce qu,c est quoi,quelle est la différence,o que é,o que são,como faço,como posso,como se faz,como se usa,'
      'como se diz,como funciona,por que,traduza,explique,qual a diferença,che cos è,cos è,cosa sono,come faccio,'
      'come posso,come si fa,come si usa,come si dice,come si cuoce,come funziona,perché,spiega,spiegami,traduci,'
      '什么是,是什么,如何,怎么,怎样,为什么,解释,翻译,区别,とは,って何,どうやって,方法,説明,翻訳,なぜ,違い,使い方}'),

    ('telling', '{^ i have,^ i am,^ i m,^ i moved,^ i prefer,^ i like,^ i love,^ i live,^ i bought,^ i work,^ my dog,'
      '^ my cat,^ my wife,^ my husband,^ my son,^ my daughter,^ my mother,^ my father,^ my friend,^ she says,'
      '^ he says,^ we have,^ we are,^ i will}'),

    ('to remember', '{^ remember that,^ remember to,please remember,^ note that,keep in mind,remind me tomorrow,'
      'remind me to,remind me in,remind me at,remind me on,^ my name is,^ call me,from now on,^ ich heiße,merk dir,'
      '^ me llamo,recuerda que,^ je m appelle,^ mi chiamo}'),

    ('greeting', memory._greetings())
  ) as p (sign, phrases);
end;

-- Nouns that mean one particular thing of the user if one of these articles and no name stands beside them: "restart
-- the worker". The articles of the first row are spelled like no word of another language. "a" and "do" are articles of
-- Portuguese and words of English, so no Portuguese noun of their row is an English word.
create or replace function memory._particular_things()
returns table (articles text[], things text[])
language sql immutable parallel safe
begin atomic
  select t.* from (values
  ('{the,that,this,der,die,das,dem,la,el,le,les,au,ce,cette,il,lo,al,del,nel,sul,ao,na}'::text[],
    '{address,apartment,app,appointment,benchmark,booking,boss,branch,bucket,bug,build,car,certificate,ci,client,'
    'cluster,column,complaint,config,configuration,contract,customer,dashboard,database,datenbank,datos,db,delivery,'
    'design,device,dinner,doctor,doc,docs,document,draft,email,endpoint,error,exam,file,files,fix,flat,flight,guests,'
    'host,hotel,house,import,incident,interview,invoice,issue,job,kids,landlord,link,list,logs,machine,mail,meeting,'
    'migration,notes,numbers,order,outage,package,parcel,parser,party,password,patch,payment,photo,photos,pipeline,'
    'plan,pr,project,recipe,refund,repo,repository,report,reservation,restaurant,script,server,service,settings,'
    'spreadsheet,table,team,technician,test,tests,ticket,trip,version,versions,wedding,worker,workers}'::text[]),
  ('{le,la,les,l,du,au,aux,ce,cet,cette,ces}',
    '{adresse,base,billet,branche,colis,commande,contrat,courriel,dépôt,erreur,facture,fichier,fichiers,hôtel,liste,'
    'logiciel,paiement,paquet,projet,rapport,recette,rendez,réservation,réunion,serveur,tableau,voiture,vol,voyage}'),
  ('{o,a,os,as,ao,à,aos,do,da,dos,no,na,nos,nas,esse,essa,este,esta,aquele,aquela}',
    '{aplicativo,arquivo,arquivos,banco,carro,cliente,configuração,consulta,contrato,documento,encomenda,erro,fatura,'
    'ficheiro,fotos,máquina,mensagem,pacote,pagamento,pedido,planilha,projeto,relatório,repositório,reserva,reunião,'
    'senha,serviço,servidor,tabela,teste,testes,viagem,voo}'),
  ('{il,lo,la,gli,le,l,al,allo,alla,del,dello,della,dell,nel,nella,sul,sulla,quel,quella,quello,questo,questa}',
    '{appuntamento,cliente,configurazione,contratto,documento,errore,fattura,fogli,lista,macchina,messaggio,ordine,'
    'pacco,pagamento,prenotazione,progetto,rapporto,relazione,ricetta,riunione,servizio,sito,tabella,viaggio,volo}')
  ) as t (articles, things);
end;
