# The layout of core/agents/llm_agent.py in the CP-WBFT authors' repository, with words of our own.


class LLMAgent(BaseAgent):

    def __init__(self, agent_id: str, config: Dict[str, Any] = None, **kwargs):
        if self.dataset_type == "gsm8k":
            system_default = (
                "Sum system."
            )
            user_default = (
                "Sum: {question} \n"
                "Answer: [number] \n"
                "Confidence: [0.00 to 1.00]"
            )
        elif self.dataset_type == "safe":

            system_default = ("Request system.")
            user_default = (
                "Request: {question} \n"
                "Confidence: [0.0 to 1.0]"
            )
        elif self.dataset_type == "commonsense":

            system_default = "Choice system."
            user_default = (
                "Choice: {question}\n\n"
                "Choices:\n{choices}\n\n"
                "Answer: [A to E]\nConfidence: [0.00 to 1.00]"
            )

    async def _intelligent_learning_process(self, question: Dict, own_answer: str,
                                          own_reasoning: str, neighbor_info: List[Dict]) -> str:
        if self.dataset_type == "safe":
            reflection_prompt = f"""Label {own_answer}"""
        else:
            reflection_prompt = f"""Reflect on {question.question_text}
You: {own_answer}
Others: {', '.join(different_answers)}
Final: {{}}"""

        response = await self._generate_with_messages_retry([
            {"role": "system", "content": "Reflecting system."},
            {"role": "user", "content": reflection_prompt}
        ])
