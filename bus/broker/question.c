/*
 * question.c: the operator's questions
 */
#include "bus/base/text.h"
#include "bus/broker/session.h"

void hear_question(struct broker *broker, struct bytes peer, const Question *question)
{
	Control control = { .which_what = Control_answer_tag };

	control.what.answer.id = question->id;
	TEXT_COPY(control.what.answer.text, "unknown question");
	control_now(broker, peer, &control);
}
