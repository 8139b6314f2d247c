/*
 * page_texts.c: what the unsubscribe page says, in each of its languages
 *
 * Promises:  every language has every text; formal address where a language tells it apart.
 */
#include "services/kit/endpoint/page.h"
#include "services/kit/locale/locale.h"
#include <stddef.h>
#include <string.h>

const struct page_texts page_texts[] = {
	{ .language = "en",
		.title = "Cart reminders",
		.ask_head = "No more cart reminders?",
		.ask = "{shop} will no longer write to you about a cart you left behind.",
		.ask_button = "Unsubscribe",
		.done_head = "You are unsubscribed",
		.done = "{shop} will not send you any more cart reminders.",
		.undo = "Was that a mistake?",
		.undo_button = "Undo",
		.back_head = "Reminders are on again",
		.back = "{shop} may remind you again of a cart you left behind.",
		.fixed_head = "This cannot be undone here",
		.fixed = "{shop} has your address on its list for another reason as well. If you would like "
			 "reminders again, please answer one of its mails.",
		.later_head = "Please try again in a minute",
		.later = "We could not record your wish just now, so nothing has changed yet.",
		.later_button = "Try again",
		.bad_head = "This link does not work",
		.bad_link = "It may have been cut off on its way. Please use the link from the mail again, or answer "
			    "the mail and say that you want no more of them.",
		.bad_return = "It may have been cut off on its way. Please use the link from the mail again, or go to "
			      "the shop's own page: your basket may still be there." },
	{ .language = "de",
		.title = "Erinnerungen an Warenkörbe",
		.ask_head = "Keine Erinnerungen mehr?",
		.ask = "{shop} schreibt Ihnen dann nicht mehr, wenn Sie einen Warenkorb zurückgelassen haben.",
		.ask_button = "Abmelden",
		.done_head = "Sie sind abgemeldet",
		.done = "{shop} schickt Ihnen keine Erinnerungen an Warenkörbe mehr.",
		.undo = "War das ein Versehen?",
		.undo_button = "Rückgängig machen",
		.back_head = "Erinnerungen sind wieder an",
		.back = "{shop} darf Sie wieder an einen zurückgelassenen Warenkorb erinnern.",
		.fixed_head = "Das lässt sich hier nicht rückgängig machen",
		.fixed = "{shop} führt Ihre Adresse auch aus einem anderen Grund auf seiner Liste. Wenn Sie wieder "
			 "Erinnerungen möchten, antworten Sie bitte auf eine der Mails.",
		.later_head = "Bitte versuchen Sie es in einer Minute noch einmal",
		.later = "Ihr Wunsch konnte gerade nicht gespeichert werden; es hat sich noch nichts geändert.",
		.later_button = "Noch einmal versuchen",
		.bad_head = "Dieser Link funktioniert nicht",
		.bad_link =
			"Vielleicht wurde er unterwegs abgeschnitten. Bitte nehmen Sie noch einmal den Link aus der "
			"Mail, oder antworten Sie auf die Mail und schreiben Sie, dass Sie keine mehr möchten.",
		.bad_return =
			"Vielleicht wurde er unterwegs abgeschnitten. Bitte nehmen Sie noch einmal den Link aus "
			"der Mail, oder gehen Sie auf die Seite des Shops: Ihr Warenkorb ist vielleicht noch da." },
	{ .language = "fr",
		.title = "Rappels de panier",
		.ask_head = "Plus de rappels de panier ?",
		.ask = "{shop} ne vous écrira plus au sujet d’un panier que vous avez laissé.",
		.ask_button = "Se désabonner",
		.done_head = "Vous êtes désabonné(e)",
		.done = "{shop} ne vous enverra plus de rappels de panier.",
		.undo = "C’était une erreur ?",
		.undo_button = "Annuler",
		.back_head = "Les rappels sont réactivés",
		.back = "{shop} pourra de nouveau vous rappeler un panier que vous avez laissé.",
		.fixed_head = "Impossible d’annuler ici",
		.fixed =
			"Votre adresse figure aussi sur la liste de {shop} pour une autre raison. Si vous souhaitez de "
			"nouveau des rappels, répondez à l’un de ses courriels.",
		.later_head = "Veuillez réessayer dans une minute",
		.later = "Nous n’avons pas pu enregistrer votre demande ; rien n’a encore changé.",
		.later_button = "Réessayer",
		.bad_head = "Ce lien ne fonctionne pas",
		.bad_link =
			"Il a peut-être été coupé en chemin. Utilisez de nouveau le lien du courriel, ou répondez au "
			"courriel en disant que vous n’en voulez plus.",
		.bad_return =
			"Il a peut-être été coupé en chemin. Utilisez de nouveau le lien du courriel, ou allez sur "
			"la page de la boutique : votre panier y est peut-être encore." },
	{ .language = "es",
		.title = "Recordatorios de la cesta",
		.ask_head = "¿No quiere más recordatorios?",
		.ask = "{shop} dejará de escribirle sobre una cesta que haya dejado sin terminar.",
		.ask_button = "Darse de baja",
		.done_head = "Se ha dado de baja",
		.done = "{shop} no le enviará más recordatorios de la cesta.",
		.undo = "¿Ha sido un error?",
		.undo_button = "Deshacer",
		.back_head = "Los recordatorios vuelven a estar activos",
		.back = "{shop} podrá volver a recordarle una cesta que haya dejado sin terminar.",
		.fixed_head = "Esto no se puede deshacer aquí",
		.fixed = "{shop} tiene su dirección en la lista también por otro motivo. Si quiere volver a recibir "
			 "recordatorios, responda a uno de sus correos.",
		.later_head = "Inténtelo de nuevo en un minuto",
		.later = "No hemos podido guardar su petición; todavía no ha cambiado nada.",
		.later_button = "Intentarlo de nuevo",
		.bad_head = "Este enlace no funciona",
		.bad_link = "Puede que se haya cortado por el camino. Use de nuevo el enlace del correo, o responda al "
			    "correo y diga que no quiere recibir más.",
		.bad_return = "Puede que se haya cortado por el camino. Use de nuevo el enlace del correo, o vaya a la "
			      "página de la tienda: quizá su cesta siga allí." },
	{ .language = "it",
		.title = "Promemoria del carrello",
		.ask_head = "Niente più promemoria?",
		.ask = "{shop} non le scriverà più a proposito di un carrello lasciato in sospeso.",
		.ask_button = "Annulla l’iscrizione",
		.done_head = "Iscrizione annullata",
		.done = "{shop} non le invierà più promemoria del carrello.",
		.undo = "È stato un errore?",
		.undo_button = "Ripristina",
		.back_head = "I promemoria sono di nuovo attivi",
		.back = "{shop} potrà di nuovo ricordarle un carrello lasciato in sospeso.",
		.fixed_head = "Qui non si può ripristinare",
		.fixed = "{shop} ha il suo indirizzo in elenco anche per un altro motivo. Se desidera di nuovo i "
			 "promemoria, risponda a una delle sue email.",
		.later_head = "Riprovi tra un minuto",
		.later = "Non siamo riusciti a registrare la richiesta; per ora non è cambiato nulla.",
		.later_button = "Riprova",
		.bad_head = "Questo link non funziona",
		.bad_link =
			"Forse è stato tagliato lungo il percorso. Usi di nuovo il link dell’email, oppure risponda "
			"all’email scrivendo che non ne desidera altre.",
		.bad_return = "Forse è stato tagliato lungo il percorso. Usi di nuovo il link dell’email, oppure vada "
			      "alla pagina del negozio: il carrello potrebbe essere ancora lì." },
	{ .language = "nl",
		.title = "Herinneringen aan winkelwagens",
		.ask_head = "Geen herinneringen meer?",
		.ask = "{shop} schrijft u dan niet meer over een winkelwagen die u hebt achtergelaten.",
		.ask_button = "Afmelden",
		.done_head = "U bent afgemeld",
		.done = "{shop} stuurt u geen herinneringen aan winkelwagens meer.",
		.undo = "Was dat een vergissing?",
		.undo_button = "Ongedaan maken",
		.back_head = "Herinneringen staan weer aan",
		.back = "{shop} mag u weer herinneren aan een winkelwagen die u hebt achtergelaten.",
		.fixed_head = "Dit kan hier niet ongedaan worden gemaakt",
		.fixed = "{shop} heeft uw adres ook om een andere reden op de lijst staan. Wilt u weer herinneringen, "
			 "beantwoord dan een van de mails.",
		.later_head = "Probeer het over een minuut nog eens",
		.later = "We konden uw wens zojuist niet vastleggen; er is nog niets veranderd.",
		.later_button = "Nog eens proberen",
		.bad_head = "Deze link werkt niet",
		.bad_link =
			"Misschien is hij onderweg afgekapt. Gebruik de link uit de mail nog eens, of beantwoord de "
			"mail en schrijf dat u er geen meer wilt.",
		.bad_return = "Misschien is hij onderweg afgekapt. Gebruik de link uit de mail nog eens, of ga naar de "
			      "pagina van de winkel: uw winkelwagen staat er misschien nog." },
	{ .language = "pt",
		.title = "Lembretes do carrinho",
		.ask_head = "Não quer mais lembretes?",
		.ask = "{shop} não voltará a escrever-lhe sobre um carrinho que tenha deixado por concluir.",
		.ask_button = "Cancelar a subscrição",
		.done_head = "Subscrição cancelada",
		.done = "{shop} não lhe enviará mais lembretes do carrinho.",
		.undo = "Foi um engano?",
		.undo_button = "Anular",
		.back_head = "Os lembretes estão ativos de novo",
		.back = "{shop} poderá voltar a lembrar-lhe um carrinho que tenha deixado por concluir.",
		.fixed_head = "Não é possível anular aqui",
		.fixed = "{shop} tem o seu endereço na lista também por outro motivo. Se quiser voltar a receber "
			 "lembretes, responda a um dos e-mails.",
		.later_head = "Tente de novo dentro de um minuto",
		.later = "Não conseguimos registar o seu pedido; ainda nada mudou.",
		.later_button = "Tentar de novo",
		.bad_head = "Esta ligação não funciona",
		.bad_link =
			"Pode ter sido cortada pelo caminho. Use de novo a ligação do e-mail, ou responda ao e-mail "
			"e diga que não quer receber mais nenhum.",
		.bad_return = "Pode ter sido cortada pelo caminho. Use de novo a ligação do e-mail, ou vá à página da "
			      "loja: o seu carrinho talvez ainda lá esteja." },
	{ .language = "ja",
		.title = "カートのお知らせメール",
		.ask_head = "お知らせメールを停止しますか？",
		.ask = "{shop}からの、カートに残った商品についてのお知らせメールを停止します。",
		.ask_button = "配信を停止する",
		.done_head = "配信を停止しました",
		.done = "{shop}から、カートについてのお知らせメールが届くことはありません。",
		.undo = "お間違えでしたか？",
		.undo_button = "元に戻す",
		.back_head = "お知らせメールを再開しました",
		.back = "{shop}から、カートに残った商品についてのお知らせメールが再び届くことがあります。",
		.fixed_head = "ここでは元に戻せません",
		.fixed = "別の理由でも、{shop}"
			 "の配信停止リストにお客様のアドレスが登録されています。お知らせメールの再開をご希望の"
			 "場合は、届いたメールにご返信ください。",
		.later_head = "1分ほどしてから、もう一度お試しください",
		.later = "ただいま、ご希望を記録できませんでした。まだ何も変わっていません。",
		.later_button = "もう一度試す",
		.bad_head = "このリンクは使えません",
		.bad_link = "途中で切れてしまったのかもしれません。メールのリンクをもう一度お使いいただくか、配信停止を"
			    "ご希望の旨をメールにご返信ください。",
		.bad_return = "途中で切れてしまったのかもしれません。メールのリンクをもう一度お使いいただくか、ショップ"
			      "のページをご覧ください。カートがまだ残っているかもしれません。" },
	{ .language = "ar",
		.right_to_left = true,
		.title = "تذكيرات سلة التسوق",
		.ask_head = "إيقاف تذكيرات السلة؟",
		.ask = "لن يراسلك {shop} بعد الآن بشأن سلة تركتها دون إتمام.",
		.ask_button = "إلغاء الاشتراك",
		.done_head = "تم إلغاء اشتراكك",
		.done = "لن يرسل إليك {shop} أي تذكيرات أخرى بسلة التسوق.",
		.undo = "هل كان ذلك خطأ؟",
		.undo_button = "تراجع",
		.back_head = "عادت التذكيرات إلى العمل",
		.back = "قد يذكّرك {shop} مجددًا بسلة تركتها دون إتمام.",
		.fixed_head = "لا يمكن التراجع من هنا",
		.fixed = "عنوانك مدرج في قائمة {shop} لسبب آخر أيضًا. إذا أردت تلقي التذكيرات من جديد، فيرجى الرد على "
			 "إحدى رسائله.",
		.later_head = "يرجى المحاولة مرة أخرى بعد دقيقة",
		.later = "لم نتمكن من تسجيل طلبك الآن، ولم يتغير شيء بعد.",
		.later_button = "حاول مرة أخرى",
		.bad_head = "هذا الرابط لا يعمل",
		.bad_link =
			"ربما انقطع جزء منه في الطريق. يرجى استخدام الرابط الموجود في الرسالة مرة أخرى، أو الرد على "
			"الرسالة وإخبارنا بأنك لا تريد المزيد منها.",
		.bad_return =
			"ربما انقطع جزء منه في الطريق. يرجى استخدام الرابط الموجود في الرسالة مرة أخرى، أو زيارة صفحة "
			"المتجر: فقد تكون سلتك ما زالت هناك." },
	{ .language = "hi",
		.title = "कार्ट के रिमाइंडर",
		.ask_head = "क्या रिमाइंडर बंद कर दें?",
		.ask = "{shop} अब आपको आपके छोड़े हुए कार्ट के बारे में नहीं लिखेगा।",
		.ask_button = "सदस्यता समाप्त करें",
		.done_head = "आपकी सदस्यता समाप्त हो गई है",
		.done = "{shop} आपको कार्ट के और रिमाइंडर नहीं भेजेगा।",
		.undo = "क्या यह गलती से हुआ?",
		.undo_button = "पहले जैसा करें",
		.back_head = "रिमाइंडर फिर से चालू हैं",
		.back = "{shop} आपको आपके छोड़े हुए कार्ट की याद फिर से दिला सकता है।",
		.fixed_head = "इसे यहाँ वापस नहीं किया जा सकता",
		.fixed = "{shop} की सूची में आपका पता किसी और कारण से भी है। अगर आप फिर से रिमाइंडर चाहते हैं, तो कृपया किसी एक "
			 "मेल का जवाब दें।",
		.later_head = "कृपया एक मिनट बाद फिर कोशिश करें",
		.later = "हम अभी आपका अनुरोध दर्ज नहीं कर पाए; अभी कुछ नहीं बदला है।",
		.later_button = "फिर कोशिश करें",
		.bad_head = "यह लिंक काम नहीं करता",
		.bad_link = "शायद यह रास्ते में कट गया। कृपया मेल का लिंक फिर से इस्तेमाल करें, या मेल का जवाब देकर बताएँ कि आप और मेल "
			    "नहीं चाहते।",
		.bad_return = "शायद यह रास्ते में कट गया। कृपया मेल का लिंक फिर से इस्तेमाल करें, या दुकान के पेज पर जाएँ: हो सकता है "
			      "आपका कार्ट अभी भी वहाँ हो।" },
	{ 0 },
};

const struct page_texts *page_texts_for(const char *accept, const char *locale)
{
	static const char *languages[sizeof(page_texts) / sizeof(*page_texts)];
	const struct page_texts *texts = page_texts;
	const char *chosen;

	for (size_t i = 0; page_texts[i].language; i++)
		languages[i] = page_texts[i].language;
	chosen = language_choose(accept, locale, languages);
	while (strcmp(texts->language, chosen) != 0)
		texts++;
	return texts;
}
