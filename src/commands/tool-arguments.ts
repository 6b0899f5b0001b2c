/**
 * Commands behind which a tool is named (`call`, `run`): their own flags up to the name, and the
 * registry as a program with one tool.
 */

import type { ParsedCommand } from '../cli/command.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import { createFlagTable, readGlobalFlags, scanArgv } from '../define/argv.ts'
import { buildInputFromFlags } from '../define/flag-input.ts'
import { toFlagSpecs } from '../define/flag-specs.ts'
import { GLOBAL_FLAGS } from '../define/global-flags.ts'
import type { Io } from '../protocol/io.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import type { ToolError } from '../protocol/tool-error.ts'

/** The command line of a command behind whose flags a tool is named, with what is for the tool. */
type OwnFlags<Flags> = {
  readonly flags: Flags
  readonly name: string | undefined
  readonly rest: readonly string[]
  readonly problem: ToolError | undefined
}

/**
 * Reads the flags of such a command up to the name of the tool; what follows is not ours, unless
 * flags may stand `everywhere`.
 */
export function readOwnFlags<Flags extends object>(
  { entry, tokens, globals }: ParsedCommand & { kind: 'tool' },
  { env }: Io,
  { everywhere = false } = {},
): OwnFlags<Flags> {
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
    env,
  ) as { readonly arguments?: unknown; readonly tool?: unknown } & Flags
  const [name, ...rest] = everywhere
    ? scanned.words.map(({ text }) => text)
    : tokens.slice(scanned.end + (tokens[scanned.end] === '--' ? 1 : 0))
  return { flags: flags as unknown as Flags, name, rest, problem }
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
