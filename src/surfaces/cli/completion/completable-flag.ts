import type { ToolsetManifest } from '../../../contract/manifest.ts'
import type { FlagSpec, InjectedFlag } from '../../../define/flags/flag-spec.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS, PROGRAM_FLAGS } from '../../../define/flags/injected.ts'
import { inputFields } from '../../../define/flags/input-fields.ts'
import { itemSchema, pathKindOf, readField } from '../../../define/flags/read-field.ts'
import { flagSpecs } from '../../../define/flags/specs.ts'
import type { ToolCommand } from '../command-path.ts'
import type { Completion } from './completion.ts'

/** What may stand for a value. */
export type ValueSource = {
  readonly choices: readonly string[]
  readonly directive: Completion['directive']
}

/** A flag as completion sees it, whoever declared it. */
export type CompletableFlag = {
  readonly long: string
  readonly short?: string
  readonly description?: string
  /** One source for each word that follows the flag. */
  readonly values: readonly ValueSource[]
  readonly repeatable: boolean
  readonly boolean: boolean
  readonly hidden: boolean
  /** Of an object, the flags of its keys: `--config.key`. */
  readonly inner: () => readonly CompletableFlag[]
}

/** The flags that may stand after the name of a tool. */
export function toolFlags(tool: ToolCommand): CompletableFlag[] {
  const specs = flagSpecs(tool)
  const injected = [...INJECTED_FLAGS, ...CONTROL_FLAGS].filter(
    (flag) => !specs.some((spec) => spec.long === flag.long),
  )
  return [
    ...specs.filter((spec) => !isSwitch(spec)).map(fromSpec),
    ...specs.filter(isSwitch).map(fromSwitch),
    ...injected.map((flag) => fromInjected(flag, tool.session)),
  ]
}

/** The flags that may stand before the name of a tool. */
export function programFlags(manifest: ToolsetManifest): CompletableFlag[] {
  const sources: { readonly [long: string]: readonly string[] } = {
    resource: manifest.resources.map(({ uri }) => uri).filter((uri) => !uri.includes('{')),
    prompt: manifest.prompts.map(({ name }) => name),
  }
  const hidden = INJECTED_FLAGS.filter(
    (flag) => !PROGRAM_FLAGS.some((other) => other.long === flag.long),
  ).map((flag) => ({ ...flag, hidden: true }))
  return [...PROGRAM_FLAGS, ...hidden].map((flag) =>
    fromInjected(
      Object.hasOwn(sources, flag.long) ? { ...flag, choices: sources[flag.long]! } : flag,
      true,
    ),
  )
}

/** What may stand for the value of a field. */
export function valueSource(
  spec: Pick<FlagSpec, 'field' | 'kind' | 'schema' | 'choices'>,
): ValueSource {
  const path = pathKindOf(spec.kind === 'list' ? itemSchema(spec.schema) : spec.schema)
  const isDirectory = spec.field === 'working_dir' || spec.field === 'workingDir'
  return {
    choices: spec.kind === 'boolean' ? ['true', 'false'] : (spec.choices ?? []),
    directive: isDirectory ? 'directories' : (path ?? 'none'),
  }
}

function fromSpec(spec: FlagSpec): CompletableFlag {
  return {
    ...named(spec),
    values: spec.kind === 'boolean' ? [] : [valueSource(spec)],
    repeatable: spec.kind === 'list' || spec.kind === 'object',
    boolean: spec.kind === 'boolean',
    hidden: spec.hidden,
    inner: () => (spec.kind === 'object' ? innerFlags(spec) : []),
  }
}

// A reserved field is written as the injected flag that feeds it.
function isSwitch(spec: FlagSpec): boolean {
  return spec.fedBy === 'dry-run' || spec.fedBy === 'verbose'
}

function fromSwitch(spec: FlagSpec): CompletableFlag {
  const short = INJECTED_FLAGS.find((flag) => flag.long === spec.fedBy)?.short
  return {
    ...named({ ...spec, ...(short !== undefined && { short }) }),
    values: [],
    repeatable: spec.fedBy === 'verbose',
    boolean: false,
    hidden: spec.hidden,
    inner: () => [],
  }
}

function fromInjected(flag: InjectedFlag, session: boolean): CompletableFlag {
  const takesValue = flag.kind === 'value' || flag.kind === 'list'
  const words = takesValue ? (flag.valueName ?? 'text').split(' ') : []
  return {
    ...named(flag),
    values: words.map((_, index) => ({
      choices: index === 0 ? (flag.choices ?? []) : [],
      directive: 'none',
    })),
    repeatable: flag.kind === 'list' || flag.kind === 'count',
    boolean: false,
    hidden: flag.hidden === true || (flag.long === 'session' && !session),
    inner: () => [],
  }
}

function named({
  long,
  short,
  description,
}: Pick<FlagSpec, 'long' | 'short' | 'description'>): Pick<
  CompletableFlag,
  'long' | 'short' | 'description'
> {
  return {
    long,
    ...(short !== undefined && { short }),
    ...(description !== undefined && { description }),
  }
}

function innerFlags(spec: FlagSpec): CompletableFlag[] {
  const { properties, required } = inputFields(spec.schema)
  return [...properties].map(([key, schema]) =>
    fromSpec({
      field: key,
      long: `${spec.long}.${key}`,
      schema,
      required: required.has(key),
      positional: false,
      hidden: spec.hidden,
      ...readField(schema),
    }),
  )
}
