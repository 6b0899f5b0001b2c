import type { FlagSpec, InjectedFlag } from '../../../define/flags/flag-spec.ts'
import type { Row } from './layout.ts'

/** The arguments of a tool that are given by position. */
export function argumentRows(specs: readonly FlagSpec[]): Row[] {
  return specs
    .filter(isArgument)
    .map((spec) => ({
      term: argumentTerm(spec),
      text: spec.description ?? '',
      notes: [
        ...(spec.valueName === 'text' || spec.choices ? [] : [`(${spec.valueName})`]),
        ...notesOf(spec, true),
      ],
    }))
}

/** The flags of a tool that stand for its own fields. */
export function optionRows(specs: readonly FlagSpec[]): Row[] {
  const shown = specs.filter((spec) => !isArgument(spec) && !spec.hidden)
  return shown.map((spec) => ({
    term: shortTerm(spec, shown) + optionTerm(spec),
    text: spec.description ?? '',
    ...(spec.required && { warning: '(required)' }),
    notes: notesOf(spec, false),
  }))
}

/** Flags that the tool did not declare. */
export function injectedRows(flags: readonly InjectedFlag[]): Row[] {
  const shown = flags.filter((flag) => !flag.hidden)
  return shown.map((flag) => ({
    term: shortTerm(flag, shown) + injectedTerm(flag),
    text: flag.description,
    ...(flag.choices && { notes: [`[${flag.choices.join(', ')}]`] }),
  }))
}

/** The arguments of a command in one line: `<pattern> --name <text> [options]`. */
export function usageArguments(specs: readonly FlagSpec[]): string {
  const required = specs
    .filter((spec) => !isArgument(spec) && spec.required && !spec.hidden)
    .map(optionTerm)
  return [...specs.filter(isArgument).map(argumentTerm), ...required, '[options]'].join(' ')
}

/** `<files>...` or `[files]...` for what is given by position. */
export function argumentTerm(spec: FlagSpec): string {
  return `${spec.required ? `<${spec.long}>` : `[${spec.long}]`}${spec.kind === 'list' ? '...' : ''}`
}

/** `--name <text>`, or `--[no-]name` for a boolean. */
export function optionTerm(spec: FlagSpec): string {
  // A reserved field is fed by its injected flag, which is switched on only.
  if (spec.fedBy === 'verbose' || spec.fedBy === 'dry-run') return `--${spec.long}`
  if (spec.kind === 'boolean') return `--[no-]${spec.long}`
  return `--${spec.long} <${spec.valueName}>${spec.kind === 'list' ? '...' : ''}`
}

/** True for a field that help shows as an argument. */
export function isArgument(spec: FlagSpec): boolean {
  return spec.positional && !spec.hidden
}

/** True for a default that needs no saying: an empty list, an object without keys, a switch that is off. */
export function isEmptyValue(value: unknown): boolean {
  return (
    value === '' ||
    value === null ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

// `--prompt <name> <json>`.
function injectedTerm(flag: InjectedFlag): string {
  const values =
    flag.valueName === undefined ? [] : flag.valueName.split(' ').map((name) => `<${name}>`)
  return [`--${flag.long}`, ...values].join(' ') + (flag.kind === 'list' ? '...' : '')
}

type Short = { readonly short?: string }

// The long names stand in one column where any flag beside them has a short one.
function shortTerm({ short }: Short, all: readonly Short[]): string {
  if (short !== undefined) return `-${short}, `
  return all.some((other) => other.short !== undefined) ? '    ' : ''
}

function notesOf(spec: FlagSpec, always: boolean): string[] {
  const showChoices = spec.choices && (always || spec.valueName === 'choice')
  return [
    ...(showChoices ? [`[${spec.choices.join(', ')}]`] : []),
    ...(spec.default === undefined || isEmptyValue(spec.default)
      ? []
      : [`[default: ${showValue(spec.default)}]`]),
    ...(spec.env === undefined ? [] : [`[env: ${spec.env}]`]),
  ]
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
