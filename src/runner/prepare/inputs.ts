import { checkArguments } from '../../registry/child/argv/check-arguments.ts'
import type { RunPaths } from '../folder/run-paths.ts'
import { prepareInput, preparePaths } from '../../process/inputs/prepare-paths.ts'
import type { PathWork } from '../../process/inputs/prepare-paths.ts'
import type { RunRequest } from '../run-request.ts'

/** So much of an input fits into one argument, beside the environment. */
const LARGE = 100_000

/** What a tool gets, and what has to happen for its paths. */
export type PreparedInputs = PathWork & {
  readonly args: readonly string[]
  /** What it reads on stdin, for tools that take their input there. */
  readonly stdin?: string
  /** The arguments as the record shows them. */
  readonly shown: readonly string[]
}

/** Checks what a tool is given and gives its paths a meaning: they are those of the caller, although the tool works elsewhere. */
export async function prepareInputs(
  { workspace }: RunPaths,
  { call, args, input, inputSchema, positional, cwd }: RunRequest,
  known: Map<string, string>,
): Promise<PreparedInputs> {
  const at = { cwd, workspace, known }
  if (call && input && (call.form === 'json' || call.form === 'stdin')) {
    const { input: prepared, ...work } = await prepareInput(input, inputSchema ?? {}, at)
    const text = JSON.stringify(prepared)
    const byStdin =
      call.form === 'stdin' ||
      (call.stdin === true && (call.secret === true || text.length > LARGE))
    return { ...work, shown: args, ...(byStdin ? { args: [], stdin: text } : { args: [text] }) }
  }
  // What is no program gets its input as it is, and its call checks it.
  const { args: prepared, ...work } = await preparePaths(
    args,
    !call || call.form === 'program' ? undefined : inputSchema,
    { ...at, ...(positional && { positional }) },
  )
  checkArguments(prepared, 'Give the tool a file with the data instead')
  return { ...work, args: prepared, shown: args }
}
