import type { Booth } from './ask.ts'
import { ask } from './ask.ts'
import type { Discovered } from './discovery.ts'
import { readDiscovery, readTool } from './discovery.ts'
import { manifestOf } from './questions.ts'
import { readDocument } from './read-document.ts'

/** Tools that are asked one by one for their schema; a program with more should answer for all at once. */
const MOST_QUESTIONS = 50

/** Adds the schemas that `--discover` leaves out: by one question where the program answers for all its tools, by one for each tool otherwise. */
export async function completeDiscovery(booth: Booth, found: Discovered): Promise<Discovered> {
  if (found.tools.every(({ facts }) => facts.inputSchema !== undefined)) return found
  const whole = readDiscovery(await answer(booth))
  const known = new Map(whole?.tools.map((tool) => [tool.name, tool]))
  const tools: Discovered['tools'][number][] = []
  let left = MOST_QUESTIONS
  for (const tool of found.tools) {
    const better =
      known.get(tool.name) ??
      (whole === undefined && left-- > 0 ? readTool(await answer(booth, tool.name)) : undefined)
    // Nobody gives up asking at the first tool that does not know its schema, but one that says nothing at all is the last.
    if (whole === undefined && better === undefined) left = 0
    tools.push({ name: tool.name, facts: { ...tool.facts, ...better?.facts } })
  }
  return { ...found, tools }
}

async function answer(booth: Booth, ...tool: readonly string[]): Promise<unknown> {
  const end = await ask(booth, manifestOf(...tool))
  const read = end.reason === 'exited' && end.status === 0 ? readDocument(end.stdout) : undefined
  return read?.kind === 'document' ? read.value : undefined
}
