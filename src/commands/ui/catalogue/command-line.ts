import type { JsonObject } from '../../../contract/json.ts'
import { quoteAllForShell } from '../../../contract/quote-for-shell.ts'
import { flagName } from '../../../define/flags/flag-name.ts'
import { flagSpecs } from '../../../define/flags/specs.ts'
import type { ToolManifest } from '../../../contract/manifest.ts'
import { givenOf, takesDocument } from '../../../runner/given-of.ts'
import { commandLine } from '../../../surfaces/cli/command-line.ts'
import type { Surroundings } from '../../config/load.ts'
import type { FreshTool } from '../actions/find-tool.ts'

/** The command that runs a tool with an input, to be pasted where the dashboard was started. Throws INVALID_INPUT for what no command line can carry. */
export function commandOf(
  { entry: { name }, program }: Pick<FreshTool, 'entry' | 'program'>,
  manifest: ToolManifest,
  input: JsonObject,
  surroundings: Surroundings,
): string {
  const before = [
    'run',
    ...surroundingFlags(surroundings),
    ...(manifest.annotations.destructive ? ['--yes'] : []),
    name,
  ]
  const { form, stdin, warm } = program?.call ?? {}
  // Our own programs read flags as we do; those of others may know JSON only.
  if (takesDocument(program?.call) || (form === 'toolable' && (stdin || warm)))
    return commandLine('toolable', before, flagSpecs(manifest), input)
  return quoteAllForShell(['toolable', ...before, ...givenOf({ input }, program?.call).args])
}

function surroundingFlags({
  config,
  folder = [],
  strict,
  probeUnsandboxed,
  cache,
}: Surroundings): readonly string[] {
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...folder.flatMap((one) => ['--folder', one]),
    ...(strict ? ['--strict'] : []),
    ...(probeUnsandboxed ? [`--${flagName('probeUnsandboxed')}`] : []),
    ...(cache === false ? ['--no-cache'] : []),
  ]
}
