"""Clients that send the members of groups to a server, one request for each. A process of its own.

    python tests/support/group_clients.py URL KEY TENANT FIRST_GROUP GROUPS SIZE FIRST_MEMBER END_MEMBER

Group n has SIZE members with distinct texts `TENANT n i w w …`; this process sends those from FIRST_MEMBER up to
END_MEMBER. Prints one line for each answered member: group, member, status, score.
"""

import asyncio
import sys
from typing import Any

import aiohttp

AT_A_TIME = 16
"""Groups that a process has open."""


def candidate(tenant: str, group: int, member: int) -> str:
    return f"{tenant} {group} {member}" + " w" * ((7 * member + group) % 23)


async def main(url: str, key: str, tenant: str, first: int, groups: int, size: int, members: range) -> None:
    slots = asyncio.Semaphore(AT_A_TIME)
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(url, connector=connector, headers=headers) as session:

        async def one(group: int, member: int) -> None:
            body: dict[str, Any] = {
                "group": f"g{group}", "size": size, "prompt": "p", "orders": 1,
                "candidate": candidate(tenant, group, member), "deadline": 20.0,
            }  # fmt: skip
            async with session.post("/v1/groups/score", json=body) as answer:
                found = await answer.json()
                print(group, member, answer.status, found.get("score"), flush=True)

        async def whole(group: int) -> None:
            async with slots:
                await asyncio.gather(*(one(group, member) for member in members))

        await asyncio.gather(*(whole(group) for group in range(first, first + groups)))


if __name__ == "__main__":
    url, key, tenant, *numbers = sys.argv[1:]
    first, groups, size, begin, end = map(int, numbers)
    asyncio.run(main(url, key, tenant, first, groups, size, range(begin, end)))
