import { dirname } from 'node:path'
import type { JsonObject } from '../../contract/json.ts'
import type { Context } from '../../contract/context.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { toToolError } from '../../call/failure.ts'
import type { FoundTool, Loaded } from '../found.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { NamedServer, ServerFile } from '../manifests/manifest.ts'
import { isFileName } from '../manifests/named-server.ts'
import type { LoadContext, Source } from '../source.ts'
import { readManifestBody } from './body.ts'
import { placeEntry } from './inside.ts'
import type { Outline } from './outline.ts'
import type { Known } from './remember.ts'
import { commandOf, isExecutable, pythonOf, runnerOf } from './runner.ts'
import { readHead } from './read-head.ts'
import { look } from '../cache/stamp.ts'

/** Makes the source of a server that a manifest of a folder names. */
export type OpenServer = (name: string, server: NamedServer) => Promise<Source>

/** The servers that manifests of one folder name; each is kept open until its manifest changes or goes. */
export type Servers = {
  load(
    known: Known,
    outline: Outline & { readonly is: 'manifest' },
    source: string,
    context: LoadContext,
  ): Promise<Loaded>
  /** Closes those that no manifest names any more. */
  keep(bodies: ReadonlySet<string>): Promise<void>
}

/** Holds the servers of a folder. */
export function createServers(open: OpenServer, onChange: () => void): Servers {
  const opened = new Map<string, Promise<Server>>()
  const start = async (folder: string, { name, server }: ServerFile): Promise<Server> => {
    const source = await open(name, startable(folder, server))
    const made: Server = { source }
    source.onChange?.(() => {
      delete made.loaded
      onChange()
    })
    return made
  }
  return {
    async load(
      { candidate: { key, path }, record: { body } },
      { tools: [[name, summary, tags]], how },
      source,
      context,
    ) {
      try {
        const file = readManifestBody(body) as ServerFile
        const { tool, facts } = file
        const opening = opened.get(body) ?? start(dirname(path), file)
        opened.set(body, opening)
        const server = await opening
        if (tool === undefined) return asManifest(await server.source.load(context), how)
        const run = (input: JsonObject, ctx: Context): Promise<unknown> =>
          callOn(server, tool, input, ctx, { ...context, fresh: false })
        const found: FoundTool = {
          source,
          name,
          tier: 'manifest',
          kind: how,
          location: path,
          summary,
          tags,
          define: (wanted) => defineForeign(wanted, facts, run),
        }
        return { tools: [found] }
      } catch (error) {
        opened.delete(body)
        const { message, suggestion } = toToolError(error)
        return {
          tools: [],
          problems: [
            {
              source,
              location: path,
              reason: 'outside',
              message: `${key} ${message}`,
              fix: suggestion?.fix ?? 'Mend the manifest',
              severity: 'error',
            },
          ],
        }
      }
    },
    async keep(bodies) {
      const gone = [...opened].filter(([body]) => !bodies.has(body))
      for (const [body] of gone) opened.delete(body)
      await Promise.allSettled(gone.map(async ([, opening]) => (await opening).source.close?.()))
    },
  }
}

type Server = { readonly source: Source; loaded?: Loaded }

// What a manifest names is as strong as what it describes.
function asManifest({ tools, ...rest }: Loaded, how: string): Loaded {
  return {
    ...rest,
    tools: tools.map((tool) => ({ ...tool, tier: 'manifest', kind: `${how}, ${tool.kind}` })),
  }
}

async function callOn(
  server: Server,
  name: string,
  input: JsonObject,
  ctx: Context,
  context: LoadContext,
): Promise<unknown> {
  const { tools, problems = [] } = server.loaded ?? (await server.source.load(context))
  const found = tools.find((tool) => tool.name === name)
  const run = found?.define('tool', found.name).run as
    ((input: JsonObject, ctx: Context) => unknown) | undefined
  if (run) {
    server.loaded = { tools }
    return run(input, ctx)
  }
  const [dead] = problems
  if (dead) throw new ToolError('DEPENDENCY', dead.message, { suggestion: dead.fix })
  throw new ToolError('NOT_FOUND', `the server has no tool '${name}'`, {
    details: { tools: tools.slice(0, 50).map((tool) => tool.name) },
    suggestion: "Write the server's own name of the tool into the manifest: tool: <name>",
  })
}

// A file of the folder is started like a script of it; a bare name is a program of the machine, like in every configuration of servers.
function startable(folder: string, server: NamedServer): NamedServer {
  if (!('command' in server) || !isFileName(server.command)) return server
  const place = placeEntry(folder, [folder, dirname(folder)], server.command)
  if ('reason' in place)
    throw new ToolError('CONFIG', place.message, { suggestion: `Put the program below ${folder}` })
  const [command, ...args] = commandOf(
    place.path,
    runnerOf(place.path),
    pythonOf(folder, undefined),
    readHead(place.path),
    isExecutable(look(place.path)?.mode ?? 0),
  )
  return { ...server, command, args: [...args, ...server.args] }
}
