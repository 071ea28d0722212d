# The layout of byzantine_consensus_game/bcg_agents.py in the game's repository, with words of our own.


class BCGAgent(VLLMAgent):

    def _format_history_with_agent_details(self, max_rounds: int = 3) -> str:
        """Format the last rounds."""
        if not self.state.last_k_rounds:
            return "(nothing yet)"
        return "\n".join(rounds_to_show)


class HonestBCGAgent(BCGAgent):

    def build_system_prompt(self, game_state: Dict) -> str:
        if self.prompt_version == "minimal":
            # a short one
            system_prompt = f"""You are {self.agent_id}. Minimal.
{{"value": <integer {value_min}-{value_max}>}}"""

        elif self.prompt_version == "detailed":
            system_prompt = f"""Detailed {self.agent_id}"""

        else:
            system_prompt = f"""You are {self.agent_id}. Honest, {max_rounds} rounds, {value_min} to {value_max}.
Yours: {int(self.initial_value)}
{{"value": N}}"""

        self._cached_system_prompt = system_prompt
        return system_prompt

    def build_round_prompt(self, game_state: Dict) -> str:
        previous_strategies = ""
        round_prompt = f"""ROUND {current_round}
{f"Now: {int(self.my_value)}" if self.my_value is not None else "No value"}
HISTORY
{history_summary}
NOTES
{previous_strategies if previous_strategies else "(none)"}
{{
  "value": <integer>
}}"""

        return round_prompt

    def build_vote_system_prompt(self, game_state: Dict) -> str:
        vote_system_prompt = f"""You are {self.agent_id}, honest voter of {max_rounds} rounds.
{{"decision": "stop"}}"""

        return vote_system_prompt

    def build_vote_round_prompt(self, game_state: Dict) -> str:
        current_round_data.append(f"  {self.agent_id} (you): {int(self.my_value)}")
        return f"""VOTE {current_round}/{max_rounds}
{current_round_summary}
BEFORE
{history_summary if history_summary and "(No history" not in history_summary else "(first round)"}
{previous_strategies if previous_strategies else "(none)"}
{{"decision": "stop"}}"""


class ByzantineBCGAgent(BCGAgent):

    def build_system_prompt(self, game_state: Dict) -> str:
        system_prompt = f"""You are {self.agent_id}. Byzantine, {value_min} to {value_max}, {max_rounds} rounds."""
        return system_prompt

    def build_round_prompt(self, game_state: Dict) -> str:
        round_prompt = f"""ROUND {current_round}, Byzantine
{f"Now: {int(self.my_value)}" if self.my_value is not None else "No value"}
{history_summary}
{previous_strategies if previous_strategies else "(none)"}"""

        return round_prompt

    def build_vote_system_prompt(self, game_state: Dict) -> str:
        vote_system_prompt = f"""You are {self.agent_id}, Byzantine voter of {max_rounds} rounds."""
        return vote_system_prompt

    def build_vote_round_prompt(self, game_state: Dict) -> str:
        return f"""VOTE {current_round}/{max_rounds}, Byzantine
{current_round_summary}
{history_summary if history_summary and "(No history" not in history_summary else "(first round)"}"""
