import { dirname } from 'node:path'
import type { JsonObject } from '../../contract/json.ts'
import type { Context } from '../../contract/context.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FoundTool, Loaded, Problem } from '../found.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { NamedServer, ServerFile } from '../manifests/manifest.ts'
import type { LoadContext, Source } from '../source.ts'
import { readManifestBody } from './body.ts'
import { placeEntry } from './inside.ts'
import type { Outline } from './outline.ts'
import type { Known } from './remember.ts'
import { commandOf, isExecutable, pythonOf, runnerOf } from './runner.ts'
import { readHead } from './read-head.ts'
import { look } from '../cache/stamp.ts'

/** Makes the source of a server that a manifest of a folder names. */
export type OpenServer = (name: string, server: NamedServer) => Source

/** The servers that manifests of one folder name; each is kept open until its manifest changes or goes. */
export type Servers = {
  load(known: Known, outline: Outline & { readonly is: 'manifest' }, source: string, context: LoadContext): Promise<Loaded>
  /** Closes those that no manifest names any more. */
  keep(bodies: ReadonlySet<string>): Promise<void>
}

/** Holds the servers of a folder. */
export function createServers(open: OpenServer | undefined, onChange: () => void): Servers {
  const opened = new Map<string, Source>()
  const serverOf = (folder: string, body: string, make: OpenServer): Source => {
    const known = opened.get(body)
    if (known) return known
    const { name, server } = readManifestBody(body) as ServerFile
    const source = make(name, startable(folder, server))
    source.onChange?.(onChange)
    opened.set(body, source)
    return source
  }
  return {
    async load({ candidate, record }, { tools: [[name, summary, tags]], how }, source, context) {
      const problem = (message: string, fix: string): Loaded => ({ tools: [], problems: [{ source, location: candidate.path, reason: 'outside', message: `${candidate.key} ${message}`, fix, severity: 'error' } satisfies Problem] })
      if (!open) return problem('names a server, and nothing here opens servers', 'Name it under mcpServers')
      try {
        const { tool, facts } = readManifestBody(record.body) as ServerFile
        const server = serverOf(dirname(candidate.path), record.body, open)
        if (tool === undefined) return asManifest(await server.load(context), how)
        const run = async (input: JsonObject, ctx: Context): Promise<unknown> => callOn(await server.load({ ...context, fresh: false }), tool, input, ctx)
        const found: FoundTool = { source, name, tier: 'manifest', kind: how, location: candidate.path, summary, tags, define: (wanted) => defineForeign(wanted, facts, run) }
        return { tools: [found] }
      } catch (error) {
        if (!ToolError.is(error)) throw error
        return problem(error.message, error.suggestion?.fix ?? 'Mend the manifest')
      }
    },
    async keep(bodies) {
      const gone = [...opened].filter(([body]) => !bodies.has(body))
      for (const [body] of gone) opened.delete(body)
      await Promise.allSettled(gone.map(([, source]) => source.close?.()))
    },
  }
}

// What a manifest names is as strong as what it describes.
function asManifest({ tools, ...rest }: Loaded, how: string): Loaded {
  return { ...rest, tools: tools.map((tool) => ({ ...tool, tier: 'manifest', kind: `${how}, ${tool.kind}` })) }
}

async function callOn({ tools, problems = [] }: Loaded, name: string, input: JsonObject, ctx: Context): Promise<unknown> {
  const found = tools.find((tool) => tool.name === name)
  const run = found?.define('tool').run as ((input: JsonObject, ctx: Context) => unknown) | undefined
  if (run) return run(input, ctx)
  const [dead] = problems
  if (dead) throw new ToolError('DEPENDENCY', dead.message, { suggestion: dead.fix })
  throw new ToolError('NOT_FOUND', `the server has no tool '${name}'`, { details: { tools: tools.slice(0, 50).map((tool) => tool.name) }, suggestion: "Write the server's own name of the tool into the manifest: tool: <name>" })
}

// A file of the folder is started like a script of it; a bare name is a program of the machine, like in every configuration of servers.
function startable(folder: string, server: NamedServer): NamedServer {
  if (!('command' in server) || !/[\\/.]/.test(server.command)) return server
  const place = placeEntry(folder, [folder, dirname(folder)], server.command)
  if ('reason' in place) throw new ToolError('CONFIG', place.message, { suggestion: `Put the program below ${folder}` })
  const [command, ...args] = commandOf(place.path, runnerOf(place.path), pythonOf(folder, undefined), readHead(place.path), isExecutable(look(place.path)?.mode ?? 0))
  return { ...server, command, args: [...args, ...server.args] }
}
