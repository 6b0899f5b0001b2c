/**
 * `toolable call`: calls a tool the way a toolset program calls its own. Also what commands that name
 * a tool share: reading their own flags up to that name, and the registry as a program of one tool.
 */

import { runTool } from '../cli/call.ts'
import { printHelp } from '../cli/documents.ts'
import { printFailure } from '../cli/failure.ts'
import type { BuiltinContext } from '../cli/types.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import { createFlagTable, readGlobalFlags, scanArgv } from '../define/argv.ts'
import { buildInputFromFlags } from '../define/flag-input.ts'
import { toFlagSpecs } from '../define/flag-specs.ts'
import { GLOBAL_FLAGS } from '../define/global-flags.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { ToolInvocation } from './command.ts'
import type { RegistryFlags } from './config.ts'
import { withRegistry } from './config.ts'

/** Calls a tool of the registry; gives the exit status. */
export async function runCall(command: ToolInvocation, context: BuiltinContext): Promise<number> {
  const line = await readNamedCommandLine<RegistryFlags>(command, context, () =>
    createMissingToolError('call', 'toolable call <tool> --help'),
  )
  if (!line) return 0
  const { io, host, globals } = context
  return withRegistry(line.flags, io, async (registry) => {
    const found = registry.find(line.name)
    // Fails, and says which was meant.
    if (!found) return (await registry.describe(line.name), 0)
    await registry.prepare?.()
    const view = createSingleToolView(registry, found)
    const named = createInvocation(view, globals, line.rest)
    try {
      return await runTool(view, named, io, host)
    } catch (error) {
      return printFailure(view, error, named, io, host)
    }
  })
}

/** That no tool was named. */
export function createMissingToolError(verb: 'call' | 'run', example: string): ToolError {
  return new ToolError('MISSING_PARAM', 'tool is missing', {
    field: 'tool',
    suggestion: {
      fix: `Name the tool to ${verb}; toolable list shows them`,
      example,
      applicability: 'has_placeholders',
    },
  })
}

/** The command line of the one tool of a view. */
export function createInvocation(
  { entries }: Servable,
  globals: ToolInvocation['globals'],
  tokens: readonly string[],
): ToolInvocation {
  return { globals, builtin: true, kind: 'tool', entry: entries[0]!, single: false, tokens }
}

/** The command line of a command that names a tool or a run, and what follows that name. */
type NamedCommandLine<Flags> = {
  readonly flags: Flags
  readonly name: string
  readonly rest: readonly string[]
}

/**
 * Reads the flags of a command up to the name of the tool; what follows belongs to the tool, unless
 * flags may stand `everywhere`. Gives undefined where help was asked for, which it prints. Throws
 * what is wrong with the flags, and the given error where there is no name.
 */
export async function readNamedCommandLine<Flags extends object>(
  command: ToolInvocation,
  { set, io }: BuiltinContext,
  createMissingError: () => ToolError,
  { everywhere = false } = {},
): Promise<NamedCommandLine<Flags> | undefined> {
  const { entry, tokens, globals } = command
  const specs = toFlagSpecs(entry.definition.previewManifest()!)
  const scanned = scanArgv(
    tokens,
    createFlagTable(
      specs.filter(({ positional }) => !positional),
      GLOBAL_FLAGS,
    ),
    everywhere ? {} : { stopAtWord: true },
  )
  const problem = readGlobalFlags(globals, scanned.flags) ?? scanned.problem
  const {
    arguments: _arguments,
    tool: _tool,
    ...flags
  } = buildInputFromFlags(
    specs,
    scanned.flags.filter(({ flag }) => flag.spec),
    [],
    io.env,
  ) as { readonly arguments?: unknown; readonly tool?: unknown } & Flags
  const [name, ...rest] = everywhere
    ? scanned.words.map(({ text }) => text)
    : tokens.slice(scanned.end + (tokens[scanned.end] === '--' ? 1 : 0))
  if (globals.help) return void (await printHelp(set, command, io))
  const wrong = command.problem ?? problem
  if (wrong) throw wrong
  if (name === undefined) throw createMissingError()
  return { flags: flags as unknown as Flags, name, rest }
}

/**
 * A registry as far as the command line of one of its tools needs it: named and reached as the user
 * typed it, so that help and suggestions can be pasted.
 */
export function createSingleToolView(
  registry: Servable,
  found: ToolEntry,
  verb: 'call' | 'run' = 'call',
): Servable {
  // Not spread: the definition is made when it is needed.
  const entry = Object.create(found, { path: { value: [verb, found.name] } }) as ToolEntry
  const { path } = entry
  const about = { name: 'toolable', version: registry.version, resources: [], prompts: [] }
  const compiled = async (): Promise<ToolsetManifest> => ({
    ...about,
    tools: [{ ...(await found.definition.compiled()).manifest, path }],
  })
  const sketch = async (): Promise<ToolsetManifest> => {
    const early = found.definition.previewManifest()
    return early ? { ...about, tools: [{ ...early, path }] } : compiled()
  }
  return Object.create(registry, {
    name: { value: about.name },
    entries: { value: [entry] },
    manifest: { value: compiled },
    sketch: { value: sketch },
    outline: { value: async () => ({ ...about, tools: [found.definition.metadata] }) },
  }) as Servable
}
