"""The A2A SDK for Python: the card and its signature, a task, a stream, no consensus."""
import asyncio
import importlib.metadata
import os

import httpx
from a2a.client import A2ACardResolver, ClientConfig, create_client
from a2a.types import Message, Part, Role, SendMessageRequest, TaskState
from a2a.utils.signing import create_signature_verifier
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from google.protobuf.json_format import ParseDict

URL = os.environ["SYNOD_URL"]


def ok(what):
    print("ok  ", what, flush=True)


def question(text, **options):
    m = Message(message_id=os.urandom(8).hex(), role=Role.ROLE_USER, parts=[Part(text=text)])
    ParseDict({"synod": {"council": "seven", **options}}, m.metadata)
    return SendMessageRequest(message=m)


async def states(client, request):
    """Returns the states of a task in order, and the texts of its artifacts."""
    seen, texts = [], []
    async for event in client.send_message(request):
        if event.HasField("task"):
            seen.append(event.task.status.state)
            texts += [p.text for a in event.task.artifacts for p in a.parts]
        elif event.HasField("status_update"):
            seen.append(event.status_update.status.state)
        elif event.HasField("artifact_update"):
            texts += [p.text for p in event.artifact_update.artifact.parts]
    return seen, texts


async def main():
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, URL).get_agent_card()
        key = lambda kid, _: Ed25519PublicKey.from_public_bytes(bytes.fromhex(kid))  # noqa: E731
        create_signature_verifier(key, ["EdDSA"])(card)
        ok("the card, with a valid signature")
    for streaming in (True, False):
        client = await create_client(card, ClientConfig(streaming=streaming))
        seen, texts = await states(client, question("What is 17 + 25?"))
        assert seen[-1] == TaskState.TASK_STATE_COMPLETED and "42" in texts, (seen, texts)
        ok("a task, " + ("streamed" if streaming else "whole"))
        seen, _ = await states(client, question("How many agents answered differently?"))
        assert seen[-1] == TaskState.TASK_STATE_INPUT_REQUIRED, seen
        ok("no consensus asks for input")


print("a2a-sdk", importlib.metadata.version("a2a-sdk"))
asyncio.run(main())
