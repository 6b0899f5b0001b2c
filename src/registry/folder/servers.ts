/**
 * Servers that manifests of a folder name; each stays open until its manifest changes.
 */

import { dirname } from 'node:path'
import { toToolError } from '../../core/errors.ts'
import type { Context } from '../../protocol/context.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import type { NamedServer, ServerFile } from '../manifests/metadata.ts'
import { isFileCommand } from '../manifests/metadata.ts'
import type { FoundTool, LoadContext, LoadedSource, ToolSource } from '../source.ts'
import { buildStartCommand, findManifestEntry, findPython } from './candidates.ts'
import type { CandidateOutline } from './outline.ts'
import { parseManifestBody } from './outline.ts'
import type { KnownCandidate } from './scan.ts'

/** Makes the source of a server that a manifest of a folder names. */
export type OpenServerSource = (name: string, server: NamedServer) => Promise<ToolSource>

/** The servers that manifests of one folder name; each stays open until its manifest changes. */
export type ManifestServers = {
  load(
    known: KnownCandidate,
    outline: CandidateOutline & { readonly is: 'manifest' },
    source: string,
    context: LoadContext,
  ): Promise<LoadedSource>
  /** Closes those that no manifest names any more. */
  keep(bodies: ReadonlySet<string>): Promise<void>
}

type OpenedServer = { readonly source: ToolSource; loaded?: LoadedSource }

/** Opens the servers of a folder when they are needed. */
export function createManifestServers(
  open: OpenServerSource,
  onChange: () => void,
): ManifestServers {
  const opened = new Map<string, Promise<OpenedServer>>()
  const start = async (folder: string, { name, server }: ServerFile): Promise<OpenedServer> => {
    const source = await open(name, toStartableServer(folder, server))
    const started: OpenedServer = { source }
    source.onChange?.(() => {
      delete started.loaded
      onChange()
    })
    return started
  }
  return {
    async load(
      { candidate: { key, path: location }, record: { body } },
      { tools: [[name, summary, tags]], how: kind },
      source,
      context,
    ) {
      try {
        const file = parseManifestBody(body) as ServerFile
        const { tool, facts } = file
        const opening = opened.get(body) ?? start(dirname(location), file)
        opened.set(body, opening)
        const server = await opening
        if (tool === undefined) return toManifestTier(await server.source.load(context), kind)
        const run = (input: JsonObject, ctx: Context): Promise<unknown> =>
          callServerTool(server, tool, input, ctx, { ...context, fresh: false })
        const define: FoundTool['define'] = (wanted) => defineForeign(wanted, facts, run)
        const tier = 'manifest'
        return { tools: [{ source, name, tier, kind, location, summary, tags, define }] }
      } catch (error) {
        opened.delete(body)
        const { message: problem, suggestion } = toToolError(error)
        const message = `${key} ${problem}`
        const fix = suggestion?.fix ?? 'Mend the manifest'
        return {
          tools: [],
          problems: [{ source, location, reason: 'outside', message, fix, severity: 'error' }],
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

// The tools of a server that a manifest names rank like the tool that a manifest describes.
function toManifestTier({ tools, ...rest }: LoadedSource, how: string): LoadedSource {
  return {
    ...rest,
    tools: tools.map((tool) => ({ ...tool, tier: 'manifest', kind: `${how}, ${tool.kind}` })),
  }
}

async function callServerTool(
  server: OpenedServer,
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

// A file of the folder is started like a script; a bare name is a program of the machine, as in
// every configuration of servers.
function toStartableServer(folder: string, server: NamedServer): NamedServer {
  if (!('command' in server) || !isFileCommand(server.command)) return server
  const place = findManifestEntry(folder, [folder, dirname(folder)], server.command)
  if ('reason' in place)
    throw new ToolError('CONFIG', place.message, { suggestion: `Put the program below ${folder}` })
  const [command, ...args] = buildStartCommand(place.path, findPython(folder))
  return { ...server, command, args: [...args, ...server.args] }
}
