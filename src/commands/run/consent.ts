import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { reservedFields } from '../../define/reserved.ts'
import type { Entry } from '../../registry/entry.ts'
import type { FoundProgram } from '../../registry/found.ts'
import { takesDocument } from '../../runner/given-of.ts'
import type { Given } from '../../runner/make-request.ts'
import { workflowOf } from '../../workflow/source/workflow-of.ts'

/** How somebody wants a tool to be run. */
export type Manner = { readonly agreed: boolean; readonly dryRun: boolean }

/** The ways in which a tool hears that it should only plan: as a call does, by a flag of our own programs, by a field of its input. */
export type DryRunWay =
  | { readonly by: 'call' }
  | { readonly by: 'flag' }
  | { readonly by: 'field'; readonly field: string }

/** How a tool is told of a dry run; undefined where it cannot be, and would act. */
export async function dryRunWayOf(
  { definition, found }: Pick<Entry, 'definition' | 'found'>,
  program: FoundProgram | undefined,
): Promise<DryRunWay | undefined> {
  // The fields of a workflow are its own, whatever they are called.
  if (workflowOf(found)) return undefined
  const { form, stdin, warm } = program?.call ?? {}
  if (form === 'toolable' && (stdin || warm)) return { by: 'flag' }
  const {
    manifest: { inputSchema, dryRun },
  } = await definition.compiled()
  const field = reservedFields(inputSchema).dryRun
  const properties = isObject(inputSchema['properties']) ? inputSchema['properties'] : {}
  const declared = field === undefined ? undefined : properties[field]
  if (field !== undefined && isObject(declared) && declared['type'] === 'boolean')
    return { by: 'field', field }
  return !program && dryRun ? { by: 'call' } : undefined
}

/** What a tool is given, with consent and the wish for a dry run in the way in which it hears of them. Throws PRECONDITION for a dry run that it could not hear of: it would act. */
export async function inManner(
  given: Given,
  entry: Entry,
  program: FoundProgram | undefined,
  { agreed, dryRun }: Manner,
): Promise<Given> {
  if (!dryRun) return agreed && program?.call.destructive ? withWord(given, '--yes') : given
  const way = await dryRunWayOf(entry, program)
  // What is called and knows no dry run is not called at all, and says what it would have got.
  if (way?.by === 'call' || (!way && !program && !workflowOf(entry.found))) return given
  if (way?.by === 'flag') return withWord(given, '--dry-run')
  if (way)
    return takesDocument(program?.call)
      ? { ...given, input: { ...given.input, [way.field]: true } }
      : withWord(given, flagOf(way.field, program))
  throw noDryRun(entry)
}

/** That a tool has no dry run. */
export function noDryRun({ name, found }: Entry): ToolError {
  return new ToolError(
    'PRECONDITION',
    `'${name}' has no dry run: it could not be told, and would act`,
    {
      field: 'dry_run',
      recoverable: false,
      suggestion: workflowOf(found)
        ? `toolable workflow plan ${name}`
        : 'Leave the dry run out, or give it an input that does no harm',
    },
  )
}

/** Refuses a dry run of what goes on with a run: no attempt of it can be told. Throws PRECONDITION. */
export function refuseDryResume(
  command: 'resume' | 'workflow resume',
  dryRun: boolean | undefined,
): void {
  if (dryRun)
    throw new ToolError(
      'PRECONDITION',
      `'${command}' has no dry run: what it goes on with could not be told, and would act`,
      {
        field: 'dry_run',
        recoverable: false,
        suggestion: 'toolable runs show <run> tells how far it is',
      },
    )
}

/** What somebody has to agree to. */
export type Consented = {
  readonly name: string
  readonly destructive: boolean
  /** How the command says that he does; default: as `toolable run` does. */ readonly agreeing?: {
    readonly fix: string
    readonly example: string
  }
}

/** Refuses a destructive tool that nobody has agreed to. Throws CONFIRMATION_REQUIRED. */
export function requireConsent(
  {
    name,
    destructive,
    agreeing = {
      fix: 'Say --yes before the name of the tool',
      example: `toolable run --yes ${name} ...`,
    },
  }: Consented,
  { agreed, dryRun }: Manner,
): void {
  if (agreed || dryRun || !destructive) return
  throw new ToolError(
    'CONFIRMATION_REQUIRED',
    `'${name}' is destructive, and nobody has agreed to it`,
    {
      suggestion: {
        action: 'retry_with_modified_input',
        ...agreeing,
        applicability: 'has_placeholders',
      },
    },
  )
}

function withWord(given: Given, word: string): Given {
  return given.args.includes(word) ? given : { ...given, args: [...given.args, word] }
}

function flagOf(field: string, program: FoundProgram | undefined): string {
  return (
    program?.call.program?.fields.find((one) => one.field === field)?.flag ??
    `--${field.replaceAll('_', '-')}`
  )
}
