/*
 * words.c: what reports say, in each of their languages
 *
 * Promises:  every language has every text; formal address where a language tells it apart; plural forms are ICU's.
 * Read next: print.c, html.c
 */
#include "services/carts/report/figures.h"
#include "services/kit/locale/locale.h"
#include <stddef.h>
#include <string.h>

const struct figures_words figures_words[] = {
	{ .language = "en",
		.labels = { [LINE_SEEN] = "Carts seen",
			[LINE_MAILED] = "Carts reminded",
			[LINE_FIRST] = "First reminders",
			[LINE_SECOND] = "Second reminders",
			[LINE_CLICKED] = "Carts whose link was followed",
			[LINE_CLICKED_BOUGHT] = "Clicked, then bought",
			[LINE_MAILED_BOUGHT] = "Mailed, then bought",
			[LINE_BOUGHT_ANYWAY] = "Bought anyway",
			[LINE_TAKEN_BACK] = "Orders cancelled or paid back",
			[LINE_GAVE_UP] = "Reminded twice, not bought",
			[LINE_WRITTEN_OFF] = "Written off by you",
			[LINE_NO_ADDRESS] = "Never gave an address",
			[LINE_OPTED_OUT] = "Opt-outs",
			[LINE_COMPLAINTS] = "Complaints",
			[LINE_BOUNCES] = "Addresses that do not exist",
			[LINE_TO_OWNER] = "Mails to you (mode \"mail me\")",
			[LINE_REFUSED] = "Mails that a server refused",
			[LINE_AMBIGUOUS] = "Mails of which it is not known" },
		.before = "before",
		.won = "Won back, net",
		.of_it_back = "paid back, already taken off",
		.in_it_clicked = "of which after a click",
		.title = "{0}: carts in {1}",
		.seen = "{0,plural,=0{No cart was seen} one{One cart was seen} other{# carts were seen}} and "
			"{1,plural,=0{none} other{#}} got a reminder (before: {2,number} and {3,number}).",
		.bought = "{0,plural,=0{Nobody clicked and bought} one{One shopper clicked and bought} other{# "
			  "shoppers clicked and bought}}, {1,plural,=0{nobody} one{one} other{#}} bought after a mail, "
			  "{2,plural,=0{nobody} one{one} other{#}} without our doing.",
		.won_nothing = "No money was won back.",
		.won_sum = "Won back: {0}.",
		.opted_out = "{0,plural,=0{Nobody opted out} one{One person opted out} other{# people opted out}}, and "
			     "{1,plural,=0{nobody} one{one} other{#}} complained.",
		.between = " ",
		.footnote = "\"Mailed, then bought\" means that the order came after the mail, not that the mail was "
			    "the reason. Refunds and cancellations known by today are taken off." },
	{ .language = "de",
		.labels = { [LINE_SEEN] = "Warenkörbe gesehen",
			[LINE_MAILED] = "Warenkörbe erinnert",
			[LINE_FIRST] = "Erste Erinnerungen",
			[LINE_SECOND] = "Zweite Erinnerungen",
			[LINE_CLICKED] = "Warenkörbe, deren Link angeklickt wurde",
			[LINE_CLICKED_BOUGHT] = "Geklickt, dann gekauft",
			[LINE_MAILED_BOUGHT] = "Erinnert, dann gekauft",
			[LINE_BOUGHT_ANYWAY] = "Ohnehin gekauft",
			[LINE_TAKEN_BACK] = "Bestellungen storniert oder erstattet",
			[LINE_GAVE_UP] = "Zweimal erinnert, nicht gekauft",
			[LINE_WRITTEN_OFF] = "Von Ihnen abgeschrieben",
			[LINE_NO_ADDRESS] = "Ohne Adresse geblieben",
			[LINE_OPTED_OUT] = "Abmeldungen",
			[LINE_COMPLAINTS] = "Beschwerden",
			[LINE_BOUNCES] = "Unzustellbare Adressen",
			[LINE_TO_OWNER] = "Mails an Sie (Modus „mail me“)",
			[LINE_REFUSED] = "Von einem Server abgelehnte Mails",
			[LINE_AMBIGUOUS] = "Mails mit ungewissem Ausgang" },
		.before = "davor",
		.won = "Zurückgewonnen, netto",
		.of_it_back = "erstattet, schon abgezogen",
		.in_it_clicked = "davon nach einem Klick",
		.title = "{0}: Warenkörbe, {1}",
		.seen = "{0,plural,=0{Kein Warenkorb wurde gesehen} one{Ein Warenkorb wurde gesehen} other{# Warenkörbe "
			"wurden gesehen}}, erinnert wurde an {1,plural,=0{keinen} one{einen} other{#}} (davor: "
			"{2,number} und {3,number}).",
		.bought = "{0,plural,=0{Niemand hat geklickt und gekauft} one{Eine Person hat geklickt und gekauft} "
			  "other{# Personen haben geklickt und gekauft}}, nach einer Mail {1,plural,=0{niemand} "
			  "one{eine} other{#}}, ohne unser Zutun {2,plural,=0{niemand} one{eine} other{#}}.",
		.won_nothing = "Geld wurde nicht zurückgewonnen.",
		.won_sum = "Zurückgewonnen: {0}.",
		.opted_out =
			"{0,plural,=0{Niemand hat sich abgemeldet} one{Eine Person hat sich abgemeldet} other{# "
			"Personen haben sich abgemeldet}}, beschwert {1,plural,=0{hat sich niemand} one{hat sich eine} "
			"other{haben sich #}}.",
		.between = " ",
		.footnote =
			"„Erinnert, dann gekauft“ heißt: Die Bestellung kam nach der Mail, nicht unbedingt wegen ihr. "
			"Bis heute bekannte Erstattungen und Stornierungen sind abgezogen." },
	{ .language = "fr",
		.labels = { [LINE_SEEN] = "Paniers vus",
			[LINE_MAILED] = "Paniers rappelés",
			[LINE_FIRST] = "Premiers rappels",
			[LINE_SECOND] = "Seconds rappels",
			[LINE_CLICKED] = "Paniers dont le lien a été suivi",
			[LINE_CLICKED_BOUGHT] = "Clic, puis achat",
			[LINE_MAILED_BOUGHT] = "E-mail, puis achat",
			[LINE_BOUGHT_ANYWAY] = "Achat sans notre intervention",
			[LINE_TAKEN_BACK] = "Commandes annulées ou remboursées",
			[LINE_GAVE_UP] = "Rappelés deux fois, sans achat",
			[LINE_WRITTEN_OFF] = "Abandonnés par vous",
			[LINE_NO_ADDRESS] = "Restés sans adresse",
			[LINE_OPTED_OUT] = "Désabonnements",
			[LINE_COMPLAINTS] = "Plaintes",
			[LINE_BOUNCES] = "Adresses inexistantes",
			[LINE_TO_OWNER] = "E-mails envoyés à vous (mode « mail me »)",
			[LINE_REFUSED] = "E-mails refusés par un serveur",
			[LINE_AMBIGUOUS] = "E-mails dont l’issue est inconnue" },
		.before = "avant",
		.won = "Récupéré, net",
		.of_it_back = "remboursé, déjà déduit",
		.in_it_clicked = "dont après un clic",
		.title = "{0} : paniers, {1}",
		.seen = "{0,plural,=0{Aucun panier n’a été vu} one{Un panier a été vu} many{# de paniers ont été vus} "
			"other{# paniers ont été vus}} ; rappelés : {1,number} (avant : {2,number} et {3,number}).",
		.bought = "{0,plural,=0{Personne n’a cliqué puis acheté} one{Une personne a cliqué puis acheté} many{# "
			  "de "
			  "personnes ont cliqué puis acheté} other{# personnes ont cliqué puis acheté}} ; achats après "
			  "un e-mail : {1,number} ; sans notre intervention : {2,number}.",
		.won_nothing = "Aucun montant n’a été récupéré.",
		.won_sum = "Montant récupéré : {0}.",
		.opted_out = "Désabonnements : {0,number} ; plaintes : {1,number}.",
		.between = " ",
		.footnote = "« E-mail, puis achat » signifie que la commande est venue après l’e-mail, pas "
			    "nécessairement à cause de lui. Les remboursements et annulations connus à ce jour sont "
			    "déduits." },
	{ .language = "es",
		.labels = { [LINE_SEEN] = "Cestas vistas",
			[LINE_MAILED] = "Cestas recordadas",
			[LINE_FIRST] = "Primeros recordatorios",
			[LINE_SECOND] = "Segundos recordatorios",
			[LINE_CLICKED] = "Cestas cuyo enlace se abrió",
			[LINE_CLICKED_BOUGHT] = "Clic y después compra",
			[LINE_MAILED_BOUGHT] = "Correo y después compra",
			[LINE_BOUGHT_ANYWAY] = "Compra sin nuestra intervención",
			[LINE_TAKEN_BACK] = "Pedidos cancelados o reembolsados",
			[LINE_GAVE_UP] = "Recordadas dos veces, sin compra",
			[LINE_WRITTEN_OFF] = "Descartadas por usted",
			[LINE_NO_ADDRESS] = "Sin dirección de correo",
			[LINE_OPTED_OUT] = "Bajas",
			[LINE_COMPLAINTS] = "Quejas",
			[LINE_BOUNCES] = "Direcciones que no existen",
			[LINE_TO_OWNER] = "Correos para usted (modo «mail me»)",
			[LINE_REFUSED] = "Correos rechazados por un servidor",
			[LINE_AMBIGUOUS] = "Correos de resultado incierto" },
		.before = "antes",
		.won = "Recuperado, neto",
		.of_it_back = "reembolsado, ya descontado",
		.in_it_clicked = "de ello tras un clic",
		.title = "{0}: cestas, {1}",
		.seen = "{0,plural,=0{No se vio ninguna cesta} one{Se vio una cesta} many{Se vieron # de cestas} "
			"other{Se vieron # cestas}}; recordadas: {1,number} (antes: {2,number} y {3,number}).",
		.bought =
			"{0,plural,=0{Nadie hizo clic y compró} one{Una persona hizo clic y compró} many{# de personas "
			"hicieron clic y compraron} other{# personas hicieron clic y compraron}}; compras después de "
			"un correo: {1,number}; sin nuestra intervención: {2,number}.",
		.won_nothing = "No se recuperó ningún importe.",
		.won_sum = "Importe recuperado: {0}.",
		.opted_out = "Bajas: {0,number}; quejas: {1,number}.",
		.between = " ",
		.footnote =
			"«Correo y después compra» significa que el pedido llegó después del correo, no "
			"necesariamente por él. Se han restado los reembolsos y cancelaciones conocidos hasta hoy." },
	{ .language = "it",
		.labels = { [LINE_SEEN] = "Carrelli visti",
			[LINE_MAILED] = "Carrelli ricordati",
			[LINE_FIRST] = "Primi promemoria",
			[LINE_SECOND] = "Secondi promemoria",
			[LINE_CLICKED] = "Carrelli il cui link è stato aperto",
			[LINE_CLICKED_BOUGHT] = "Clic, poi acquisto",
			[LINE_MAILED_BOUGHT] = "E-mail, poi acquisto",
			[LINE_BOUGHT_ANYWAY] = "Acquisto senza il nostro intervento",
			[LINE_TAKEN_BACK] = "Ordini annullati o rimborsati",
			[LINE_GAVE_UP] = "Ricordati due volte, senza acquisto",
			[LINE_WRITTEN_OFF] = "Abbandonati da lei",
			[LINE_NO_ADDRESS] = "Rimasti senza indirizzo",
			[LINE_OPTED_OUT] = "Iscrizioni annullate",
			[LINE_COMPLAINTS] = "Reclami",
			[LINE_BOUNCES] = "Indirizzi inesistenti",
			[LINE_TO_OWNER] = "E-mail a lei (modalità «mail me»)",
			[LINE_REFUSED] = "E-mail rifiutate da un server",
			[LINE_AMBIGUOUS] = "E-mail dall’esito incerto" },
		.before = "prima",
		.won = "Recuperato, netto",
		.of_it_back = "rimborsato, già detratto",
		.in_it_clicked = "di cui dopo un clic",
		.title = "{0}: carrelli, {1}",
		.seen = "{0,plural,=0{Non è stato visto alcun carrello} one{È stato visto un carrello} many{Sono stati "
			"visti "
			"# di carrelli} other{Sono stati visti # carrelli}}; ricordati: {1,number} (prima: {2,number} "
			"e {3,number}).",
		.bought =
			"{0,plural,=0{Nessuno ha fatto clic e acquistato} one{Una persona ha fatto clic e acquistato} "
			"many{# di persone hanno fatto clic e acquistato} other{# persone hanno fatto clic e "
			"acquistato}}; acquisti dopo un’e-mail: {1,number}; senza il nostro intervento: {2,number}.",
		.won_nothing = "Nessun importo è stato recuperato.",
		.won_sum = "Importo recuperato: {0}.",
		.opted_out = "Iscrizioni annullate: {0,number}; reclami: {1,number}.",
		.between = " ",
		.footnote =
			"«E-mail, poi acquisto» significa che l’ordine è arrivato dopo l’e-mail, non necessariamente "
			"grazie a essa. I rimborsi e gli annullamenti noti a oggi sono detratti." },
	{ .language = "nl",
		.labels = { [LINE_SEEN] = "Winkelwagens gezien",
			[LINE_MAILED] = "Winkelwagens herinnerd",
			[LINE_FIRST] = "Eerste herinneringen",
			[LINE_SECOND] = "Tweede herinneringen",
			[LINE_CLICKED] = "Winkelwagens waarvan de link is gevolgd",
			[LINE_CLICKED_BOUGHT] = "Geklikt, daarna gekocht",
			[LINE_MAILED_BOUGHT] = "Gemaild, daarna gekocht",
			[LINE_BOUGHT_ANYWAY] = "Gekocht zonder ons toedoen",
			[LINE_TAKEN_BACK] = "Bestellingen geannuleerd of terugbetaald",
			[LINE_GAVE_UP] = "Twee keer herinnerd, niet gekocht",
			[LINE_WRITTEN_OFF] = "Door u afgeschreven",
			[LINE_NO_ADDRESS] = "Zonder adres gebleven",
			[LINE_OPTED_OUT] = "Afmeldingen",
			[LINE_COMPLAINTS] = "Klachten",
			[LINE_BOUNCES] = "Adressen die niet bestaan",
			[LINE_TO_OWNER] = "Mails aan u (modus ‘mail me’)",
			[LINE_REFUSED] = "Door een server geweigerde mails",
			[LINE_AMBIGUOUS] = "Mails met onzekere afloop" },
		.before = "daarvoor",
		.won = "Teruggewonnen, netto",
		.of_it_back = "terugbetaald, al afgetrokken",
		.in_it_clicked = "waarvan na een klik",
		.title = "{0}: winkelwagens, {1}",
		.seen = "{0,plural,=0{Er is geen winkelwagen gezien} one{Er is één winkelwagen gezien} other{Er zijn # "
			"winkelwagens gezien}}; herinnerd: {1,number} (daarvoor: {2,number} en {3,number}).",
		.bought = "{0,plural,=0{Niemand heeft geklikt en gekocht} one{Eén persoon heeft geklikt en gekocht} "
			  "other{# personen hebben geklikt en gekocht}}; na een mail gekocht: {1,number}; zonder ons "
			  "toedoen: {2,number}.",
		.won_nothing = "Er is geen geld teruggewonnen.",
		.won_sum = "Teruggewonnen: {0}.",
		.opted_out = "Afmeldingen: {0,number}; klachten: {1,number}.",
		.between = " ",
		.footnote =
			"‘Gemaild, daarna gekocht’ betekent dat de bestelling na de mail kwam, niet per se daardoor. "
			"Terugbetalingen en annuleringen die tot vandaag bekend zijn, zijn afgetrokken." },
	{ .language = "pt",
		.labels = { [LINE_SEEN] = "Carrinhos vistos",
			[LINE_MAILED] = "Carrinhos lembrados",
			[LINE_FIRST] = "Primeiros lembretes",
			[LINE_SECOND] = "Segundos lembretes",
			[LINE_CLICKED] = "Carrinhos cuja ligação foi aberta",
			[LINE_CLICKED_BOUGHT] = "Clique, depois compra",
			[LINE_MAILED_BOUGHT] = "E-mail, depois compra",
			[LINE_BOUGHT_ANYWAY] = "Compra sem a nossa intervenção",
			[LINE_TAKEN_BACK] = "Pedidos cancelados ou reembolsados",
			[LINE_GAVE_UP] = "Lembrados duas vezes, sem compra",
			[LINE_WRITTEN_OFF] = "Abandonados por decisão sua",
			[LINE_NO_ADDRESS] = "Ficaram sem endereço",
			[LINE_OPTED_OUT] = "Subscrições canceladas",
			[LINE_COMPLAINTS] = "Reclamações",
			[LINE_BOUNCES] = "Endereços que não existem",
			[LINE_TO_OWNER] = "E-mails para si (modo «mail me»)",
			[LINE_REFUSED] = "E-mails recusados por um servidor",
			[LINE_AMBIGUOUS] = "E-mails de resultado incerto" },
		.before = "antes",
		.won = "Recuperado, líquido",
		.of_it_back = "reembolsado, já descontado",
		.in_it_clicked = "do qual após um clique",
		.title = "{0}: carrinhos, {1}",
		.seen = "{0,plural,=0{Não foi visto nenhum carrinho} one{Foi visto um carrinho} many{Foram vistos # de "
			"carrinhos} other{Foram vistos # carrinhos}}; lembrados: {1,number} (antes: {2,number} e "
			"{3,number}).",
		.bought = "{0,plural,=0{Ninguém clicou e comprou} one{Uma pessoa clicou e comprou} many{# de pessoas "
			  "clicaram e compraram} other{# pessoas clicaram e compraram}}; compras depois de um e-mail: "
			  "{1,number}; sem a nossa intervenção: {2,number}.",
		.won_nothing = "Não foi recuperado nenhum valor.",
		.won_sum = "Valor recuperado: {0}.",
		.opted_out = "Subscrições canceladas: {0,number}; reclamações: {1,number}.",
		.between = " ",
		.footnote =
			"«E-mail, depois compra» significa que o pedido veio depois do e-mail, não necessariamente por "
			"causa dele. Os reembolsos e cancelamentos conhecidos até hoje estão descontados." },
	{ .language = "ja",
		.labels = { [LINE_SEEN] = "確認したカート",
			[LINE_MAILED] = "お知らせしたカート",
			[LINE_FIRST] = "1回目のお知らせ",
			[LINE_SECOND] = "2回目のお知らせ",
			[LINE_CLICKED] = "リンクが開かれたカート",
			[LINE_CLICKED_BOUGHT] = "クリック後の購入",
			[LINE_MAILED_BOUGHT] = "メール後の購入",
			[LINE_BOUGHT_ANYWAY] = "お知らせによらない購入",
			[LINE_TAKEN_BACK] = "キャンセル・返金された注文",
			[LINE_GAVE_UP] = "2回お知らせして購入なし",
			[LINE_WRITTEN_OFF] = "ショップ様が終了したカート",
			[LINE_NO_ADDRESS] = "アドレスのないまま終了",
			[LINE_OPTED_OUT] = "配信停止",
			[LINE_COMPLAINTS] = "迷惑メール報告",
			[LINE_BOUNCES] = "存在しないアドレス",
			[LINE_TO_OWNER] = "ショップ様宛てのメール（mail meモード）",
			[LINE_REFUSED] = "サーバーに拒否されたメール",
			[LINE_AMBIGUOUS] = "結果が不明なメール" },
		.before = "前期",
		.won = "回収額（純額）",
		.of_it_back = "返金（差引済み）",
		.in_it_clicked = "うちクリック後",
		.title = "{0}：カートのまとめ（{1}）",
		.seen = "確認したカートは{0,number}件、お知らせしたカートは{1,number}件でした（前期は{2,number}件と{3,"
			"number}件）。",
		.bought = "購入はクリック後が{0,number}件、メール後が{1,number}件、お知らせによらないものが{2,number}"
			  "件でした。",
		.won_nothing = "回収できた金額はありませんでした。",
		.won_sum = "回収額は{0}です。",
		.opted_out = "配信停止は{0,number}件、迷惑メール報告は{1,number}件でした。",
		.between = "",
		.footnote =
			"「メール後の購入」は、メールの後に注文があったという意味で、メールが理由とは限りません。本日"
			"までに判明した返金とキャンセルは差し引いています。" },
	{ .language = "ar",
		.labels = { [LINE_SEEN] = "سلات تم رصدها",
			[LINE_MAILED] = "سلات تم التذكير بها",
			[LINE_FIRST] = "تذكيرات أولى",
			[LINE_SECOND] = "تذكيرات ثانية",
			[LINE_CLICKED] = "سلات فُتح رابطها",
			[LINE_CLICKED_BOUGHT] = "نقر ثم شراء",
			[LINE_MAILED_BOUGHT] = "رسالة ثم شراء",
			[LINE_BOUGHT_ANYWAY] = "شراء دون تدخل منا",
			[LINE_TAKEN_BACK] = "طلبات أُلغيت أو رُدّ ثمنها",
			[LINE_GAVE_UP] = "تذكير مرتين دون شراء",
			[LINE_WRITTEN_OFF] = "سلات أنهيتها بنفسك",
			[LINE_NO_ADDRESS] = "سلات بقيت دون عنوان",
			[LINE_OPTED_OUT] = "إلغاءات الاشتراك",
			[LINE_COMPLAINTS] = "شكاوى",
			[LINE_BOUNCES] = "عناوين غير موجودة",
			[LINE_TO_OWNER] = "رسائل إليك (وضع «mail me»)",
			[LINE_REFUSED] = "رسائل رفضها خادم",
			[LINE_AMBIGUOUS] = "رسائل غير معروفة النتيجة" },
		.before = "سابقًا",
		.won = "المبلغ المسترد، الصافي",
		.of_it_back = "مبالغ أُعيدت، مخصومة بالفعل",
		.in_it_clicked = "منه بعد نقر",
		.title = "سلات التسوق في {0}، {1}",
		.seen = "{0,plural,=0{لم تُرصد أي سلة} one{رُصدت سلة واحدة} two{رُصدت سلتان} few{رُصدت # سلات} many{رُصدت # "
			"سلة} other{رُصدت # سلة}}، وعدد ما أُرسل تذكير بشأنه {1,number} (سابقًا: {2,number} و{3,number}).",
		.bought = "نقر ثم شراء: {0,number}؛ رسالة ثم شراء: {1,number}؛ شراء دون تدخل منا: {2,number}.",
		.won_nothing = "لم يُسترد أي مبلغ.",
		.won_sum = "تم استرداد {0} في المجموع.",
		.opted_out = "إلغاءات الاشتراك: {0,number}؛ الشكاوى: {1,number}.",
		.between = " ",
		.footnote = "«رسالة ثم شراء» تعني أن الطلب جاء بعد الرسالة، وليس بالضرورة بسببها. خُصمت المبالغ المعادة "
			    "والإلغاءات المعروفة حتى اليوم." },
	{ .language = "hi",
		.labels = { [LINE_SEEN] = "देखे गए कार्ट",
			[LINE_MAILED] = "याद दिलाए गए कार्ट",
			[LINE_FIRST] = "पहले रिमाइंडर",
			[LINE_SECOND] = "दूसरे रिमाइंडर",
			[LINE_CLICKED] = "कार्ट जिनका लिंक खोला गया",
			[LINE_CLICKED_BOUGHT] = "क्लिक के बाद ख़रीदारी",
			[LINE_MAILED_BOUGHT] = "मेल के बाद ख़रीदारी",
			[LINE_BOUGHT_ANYWAY] = "अपने आप हुई ख़रीदारी",
			[LINE_TAKEN_BACK] = "रद्द या वापस किए गए ऑर्डर",
			[LINE_GAVE_UP] = "दो बार याद दिलाया, ख़रीदारी नहीं",
			[LINE_WRITTEN_OFF] = "आपके द्वारा बंद किए गए",
			[LINE_NO_ADDRESS] = "बिना पते के रहे",
			[LINE_OPTED_OUT] = "सदस्यता समाप्त",
			[LINE_COMPLAINTS] = "शिकायतें",
			[LINE_BOUNCES] = "पते जो मौजूद नहीं हैं",
			[LINE_TO_OWNER] = "आपको भेजे गए मेल (मोड “mail me”)",
			[LINE_REFUSED] = "सर्वर द्वारा ठुकराए गए मेल",
			[LINE_AMBIGUOUS] = "मेल जिनका परिणाम ज्ञात नहीं" },
		.before = "पहले",
		.won = "वापस पाई गई राशि, शुद्ध",
		.of_it_back = "लौटाई गई, पहले ही घटाई गई",
		.in_it_clicked = "इसमें से क्लिक के बाद",
		.title = "{0}: कार्ट, {1}",
		.seen = "{0,plural,=0{कोई कार्ट नहीं दिखा} one{# कार्ट दिखा} other{# कार्ट दिखे}}; {1,number} के लिए रिमाइंडर "
			"भेजा गया (पहले: {2,number} और {3,number})।",
		.bought = "क्लिक के बाद ख़रीदारी: {0,number}; मेल के बाद: {1,number}; अपने आप: {2,number}।",
		.won_nothing = "कोई राशि वापस नहीं मिली।",
		.won_sum = "वापस पाई गई राशि: {0}।",
		.opted_out = "सदस्यता समाप्त: {0,number}; शिकायतें: {1,number}।",
		.between = " ",
		.footnote = "“मेल के बाद ख़रीदारी” का अर्थ है कि ऑर्डर मेल के बाद आया, यह नहीं कि मेल ही उसका कारण था। आज तक "
			    "ज्ञात वापसी और रद्द ऑर्डर घटा दिए गए हैं।" },
	{ 0 },
};

const struct figures_words *figures_words_for(const char *locale, char ret_tag[LOCALE_ROOM])
{
	static const char *languages[sizeof(figures_words) / sizeof(*figures_words)];
	const struct figures_words *words = figures_words;
	char tag[LOCALE_ROOM];
	const char *chosen;

	for (size_t i = 0; figures_words[i].language; i++)
		languages[i] = figures_words[i].language;
	locale_canonical(locale, tag);
	chosen = language_choose(NULL, tag, languages);
	while (strcmp(words->language, chosen) != 0)
		words++;
	locale_blend(chosen, tag, ret_tag);
	return words;
}
