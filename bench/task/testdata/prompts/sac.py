# The layout of core/agents/llm_agent.py in the SAC authors' repository, with words of our own.
import re


class LLMAgent(BaseAgent):

    def __init__(self, agent_id: str, config: Dict[str, Any] = None, **kwargs):

        default_config = {
            # NOTE: a comment isn't a text, "nor" is this one
            "model_type": "api",
        }
        if self._math_boxed:
            system_default = ("Boxed \\boxed{...} " "system.")
            user_default = (
                "Boxed {question} \n"
                "\\boxed{{here}} \n"
            )
            self.answer_pattern = self.config.get("answer_pattern", r"\\boxed\{(.+?)\}")
        elif self.dataset_type == "math500":
            system_default = (
                "Math system."
            )
            user_default = (
                "Math: {question} \n"
                "Write \"Answer: N\", then Confidence."
            )
        elif self.dataset_type == "safe":

            system_default = ("Safe system.")
            user_default = ("Safe: {question}")
        elif self.dataset_type == "commonsense":
            system_default = "Choice system."
            user_default = ("Choice: {question}\n{choices}")
        elif self.dataset_type == "commonsense170k":
            system_default = "True or false system."
            user_default = ("True or false: {question}")
        elif self.dataset_type == "commonsense170k_mix":
            system_default = "Mixed system."
            user_default = (
                "Mixed: {question}\n\n"
                "Answer: [as the format says]"
            )

    async def _intelligent_learning_process(self, question, own_answer, neighbor_info) -> str:
        different_answers = [ans for ans in neighbor_answers if ans != own_answer]
        if self.dataset_type == "safe":
            own_behavior = "refuse" if own_answer == "0" else "reply"
            reflection_prompt = f"""Safe: {own_behavior}, {', '.join(different_answers)}."""
        else:
            reflection_prompt = f"""Rethink {question.question_text}

You: {own_answer}
Others: {', '.join(different_answers)}

Final answer: {{}}"""

        response = await self._generate_with_messages_retry([
            {"role": "system", "content": "Rethink system."},
            {"role": "user", "content": reflection_prompt}
        ])
        return response

    async def sac_evaluate(self, question, answer: str) -> float:
        """A docstring with "quotes" and {braces}."""
        if self.dataset_type == "math500":
            user_msg = (
                f"Judge the sum {question_text}\n"
                f"Proposed: {answer}\n"
                f"Score:"
            )
        elif self.dataset_type == "safe":
            user_msg = (f"Judge the label {answer}")
        elif self.dataset_type in ("commonsense170k", "commonsense170k_mix"):
            user_msg = (f"Judge {question_text}\nProposed: {answer}\nScore:")
        else:
            user_msg = (f"Judge {answer}")
        try:
            response = await self._generate_with_messages_retry([
                {"role": "system", "content": "Judging system."},
                {"role": "user", "content": user_msg}
            ], **_eval_kw)
            resp = re.sub(r"<think>.*?</think>", "", response, flags=re.DOTALL)
        except Exception as e:
            self.logger.warning(f"SAC evaluate failed: {e}")
        return 0.5

    async def sac_refine(self, question, own_answer: str, retained, style: str = "default") -> str:
        neighbor_lines = "\n".join(
            f"  * {ans} ({score:.2f})"
            for ans, score in sorted(retained, key=lambda x: -x[1])
        )
        if self.dataset_type == "math500":
            if style == "anchor":
                user_msg = (f"Anchor {top_alt[0]} of {len(retained)}")
            else:
                user_msg = (
                    f"Refine the sum {question_text}\n"
                    f"You: {own_answer}\nOthers:\n{neighbor_lines}\n"
                    f"Answer: [N]"
                )
        elif self.dataset_type == "safe":
            user_msg = (f"Refine the label {own_answer}")
        elif self.dataset_type == "commonsense170k":
            user_msg = (f"Refine true or false {own_answer}")
        elif self.dataset_type == "commonsense170k_mix":
            user_msg = (f"Refine {question_text}\nYou: {own_answer}\nOthers:\n{neighbor_lines}\nAnswer: [X]")
        else:
            user_msg = (f"Refine {own_answer}")

        try:
            response = await self._generate_with_messages_retry([
                {"role": "system", "content": "Refining system."},
                {"role": "user", "content": user_msg}
            ])
        except Exception as e:
            self.logger.warning(f"SAC refine failed: {e}")
        return own_answer
