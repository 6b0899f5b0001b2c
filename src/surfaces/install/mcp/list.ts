import type { Scope, Surroundings } from '../agents/agent.ts'
import { detect } from '../agents/detect.ts'
import { openFile } from '../../../call/files/open-file.ts'
import { fileProblem } from '../../../call/files/file-problem.ts'
import { readEntries } from '../formats/edit.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { inspect, ownNames, reasonOf } from './inspect.ts'
import { placesOf, SERVER_AGENTS } from './places.ts'
import type { Place, ServerAgent } from './places.ts'

/** One entry, or the lack of one, in the file of an agent. */
export type ListedServer = {
  readonly agent: string
  readonly detected: boolean
  readonly scope: Scope
  readonly name: string
  readonly state: 'installed' | 'edited' | 'foreign' | 'absent' | 'broken'
  readonly file: string
  readonly reason?: string
}

/** What of a program is installed where; always with a line for its own name. */
export async function listServers(
  agents: readonly ServerAgent[],
  scopes: readonly Scope[],
  program: string,
  name: string | undefined,
  surroundings: Surroundings,
): Promise<readonly ListedServer[]> {
  const places = (
    await Promise.all(scopes.map((scope) => placesOf(agents, scope, surroundings)))
  ).flat()
  const detected = new Set(
    SERVER_AGENTS.filter((agent) => detect(agent, surroundings) !== undefined),
  )
  return places.flatMap((place) =>
    listPlace(place, program, name).map((listed) => ({
      agent: place.agent.name,
      detected: detected.has(place.agent),
      scope: place.scope,
      ...listed,
    })),
  )
}

function listPlace(
  place: Place,
  program: string,
  name: string | undefined,
): Omit<ListedServer, 'agent' | 'detected' | 'scope'>[] {
  try {
    const entries = readEntries(openFile(place.file).text ?? '', {
      format: place.format,
      container: place.servers.container,
    })
    return (
      name === undefined
        ? [...new Set([program, ...ownNames(entries, place.servers, program)])]
        : [name]
    ).map((each) => {
      const found = inspect(entries, each, place.servers, program)
      const reason = reasonOf(found, each)
      return {
        name: each,
        state: found.state,
        file: place.file,
        ...(reason !== undefined && { reason }),
      }
    })
  } catch (error) {
    const problem = fileProblem(error, place.file)
    if (!ToolError.is(problem)) throw problem
    return [{ name: name ?? program, state: 'broken', file: place.file, reason: problem.message }]
  }
}
