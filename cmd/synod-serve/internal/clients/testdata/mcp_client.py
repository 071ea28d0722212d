"""The MCP SDK for Python over streamable HTTP."""
import asyncio
import importlib.metadata
import os

from mcp import Client

URL = os.environ["SYNOD_URL"] + "/mcp"


def ok(what):
    print("ok  ", what, flush=True)


async def main():
    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    async with Client(URL) as c:
        names = [t.name for t in (await c.list_tools()).tools]
        assert names and {"ask", "result", "cancel", "verify", "graph_check"} == set(names), names
        ok("tools: " + ", ".join(sorted(names)))
        r = await c.call_tool("ask", {"question": "What is 17 + 25?", "council": "seven", "certificate": True},
                              progress_callback=progress)
        out = r.structured_content
        assert not r.is_error and out["answer"] == "42" and out["status"] == "agreed", r
        assert told and told == sorted(told), told
        ok(f"ask, with {len(told)} notifications of progress")
        v = await c.call_tool("verify", {"certificate": out["synod"]["certificate"], "answer": "42"})
        assert v.structured_content["valid"], v
        g = await c.call_tool("graph_check", {"family": "complete", "n": 7, "f": 3})
        assert g.structured_content["enough"] is True and g.structured_content["r"] == 4, g
        ok("verify and graph_check")
        r = await c.call_tool("ask", {"question": "Think slowly, all of you: what is 17 + 25?", "council": "seven", "wait": False})
        assert r.structured_content["status"] == "running", r
        r = await c.call_tool("result", {"handle": r.structured_content["handle"]})
        assert r.structured_content["answer"] == "42", r
        ok("a handle and its result")
        r = await c.call_tool("ask", {"question": "How many agents answered differently?", "council": "seven"})
        assert r.is_error and r.structured_content["status"] == "undecided", r
        ok("no consensus is an error with the votes")


print("mcp", importlib.metadata.version("mcp"))
asyncio.run(main())
