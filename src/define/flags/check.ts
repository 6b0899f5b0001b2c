import { lateExpression } from '../../contract/late-expression.ts'
import type { ToolManifest } from '../../contract/manifest.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FlagSpec } from './flag-spec.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS, PROGRAM_FLAGS } from './injected.ts'

const TYPEABLE = lateExpression('^[\\p{L}\\p{N}][\\p{L}\\p{N}_-]*$')

type FlagSource = Pick<ToolManifest, 'name' | 'flags' | 'positional'>

/** What the check looks at. */
export type CheckedFlag = Pick<
  FlagSpec,
  'field' | 'long' | 'short' | 'fedBy' | 'kind' | 'required' | 'positional'
>

/** Throws CONFIG when the fields of a tool cannot all be told apart on its command line; the message says the way out. */
export function checkFlags(manifest: FlagSource, specs: readonly CheckedFlag[]): void {
  checkFieldNames(manifest, specs)
  checkLongNames(manifest, specs)
  checkShortNames(manifest, specs)
  checkPositionals(manifest, specs)
}

function checkFieldNames(manifest: FlagSource, specs: readonly CheckedFlag[]): void {
  const fields = new Set(specs.map((spec) => spec.field))
  const known =
    fields.size > 0 ? `the input has ${[...fields].join(', ')}` : 'the input has no fields'
  for (const field of Object.keys(manifest.flags)) {
    if (!fields.has(field))
      refuse(manifest, `\`flags\` names the unknown field "${field}"; ${known}`, field)
  }
  for (const [index, field] of manifest.positional.entries()) {
    if (!fields.has(field))
      refuse(manifest, `\`positional\` names the unknown field "${field}"; ${known}`, field)
    if (manifest.positional.indexOf(field) !== index)
      refuse(manifest, `\`positional\` names the field "${field}" twice`, field)
  }
}

function checkLongNames(manifest: FlagSource, specs: readonly CheckedFlag[]): void {
  const injected = injectedNames()
  const owners = new Map<string, string>()
  for (const { field, long, fedBy } of specs) {
    if (!/^[A-Za-z0-9][\w-]*$/.test(long) && !TYPEABLE().test(long)) {
      refuse(
        manifest,
        `the field "${field}" cannot be written as the flag --${long}`,
        field,
        wayOut(field, 'my-name'),
      )
    }
    const owner = owners.get(long)
    if (owner !== undefined)
      refuse(
        manifest,
        `the fields "${owner}" and "${field}" both give the flag --${long}`,
        field,
        wayOut(field, `other-${long}`),
      )
    owners.set(long, field)
    if (injected.has(long) && fedBy === undefined) {
      refuse(
        manifest,
        `the field "${field}" gives the flag --${long}, which every tool has already`,
        field,
        wayOut(field, rename(long)),
      )
    }
  }
  for (const { field, long } of specs.filter(
    (spec) => spec.kind === 'boolean' && spec.fedBy === undefined,
  )) {
    const owner = owners.get(`no-${long}`)
    const taken =
      owner !== undefined
        ? `belongs to the field "${owner}"`
        : injected.has(`no-${long}`)
          ? 'every tool has already'
          : undefined
    if (taken)
      refuse(
        manifest,
        `the field "${field}" is switched off by --no-${long}, which ${taken}`,
        field,
        wayOut(field, `use-${long}`),
      )
  }
}

function checkShortNames(manifest: FlagSource, specs: readonly CheckedFlag[]): void {
  const injected = new Map(
    [...INJECTED_FLAGS, ...PROGRAM_FLAGS].flatMap((flag) =>
      flag.short === undefined ? [] : [[flag.short, flag.long] as const],
    ),
  )
  const owners = new Map<string, string>()
  for (const { field, long, short, fedBy } of specs) {
    if (short === undefined) continue
    if (!/^[A-Za-z]$/.test(short))
      refuse(manifest, `the short flag "${short}" of the field "${field}" is not one letter`, field)
    const flag = injected.get(short)
    if (flag !== undefined && flag !== fedBy)
      refuse(
        manifest,
        `the field "${field}" takes -${short}, which is --${flag} for every tool; choose another letter`,
        field,
      )
    const owner = owners.get(short)
    if (owner !== undefined)
      refuse(
        manifest,
        `the fields "${owner}" and "${field}" both take -${short}; choose another letter for --${long}`,
        field,
      )
    owners.set(short, field)
  }
}

function checkPositionals(manifest: FlagSource, specs: readonly CheckedFlag[]): void {
  const positional = specs.filter((spec) => spec.positional)
  for (const [index, { field, kind, required }] of positional.entries()) {
    const before = positional[index - 1]
    if (kind === 'list' && index < positional.length - 1)
      refuse(
        manifest,
        `the list "${field}" takes all further arguments; put it last in \`positional\``,
        field,
      )
    if (required && before && !before.required) {
      refuse(
        manifest,
        `the required field "${field}" stands after the optional field "${before.field}" in \`positional\`; put it before`,
        field,
      )
    }
  }
}

/** What to call a flag instead where every tool has one of that name already; undefined where it is free. */
export function otherFlagName(long: string, isBoolean: boolean): string | undefined {
  const injected = injectedNames()
  if (injected.has(long)) return rename(long)
  return isBoolean && injected.has(`no-${long}`) ? `use-${long}` : undefined
}

function injectedNames(): ReadonlySet<string> {
  return new Set(
    [...INJECTED_FLAGS, ...CONTROL_FLAGS].filter((flag) => !flag.yields).map((flag) => flag.long),
  )
}

// `output` becomes `out-file`, as the documentation of the clash says; other names say whose they are.
function rename(long: string): string {
  return long === 'output' ? 'out-file' : `tool-${long}`
}

function wayOut(field: string, name: string): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field)
  return `flags: { ${key}: { name: '${name}' } }`
}

function refuse(manifest: FlagSource, problem: string, field: string, code?: string): never {
  const message = `Tool "${manifest.name}": ${problem}${code === undefined ? '' : `; give it another one: ${code}`}`
  throw new ToolError('CONFIG', message, {
    field,
    ...(code !== undefined && { suggestion: { fix: `Add ${code} to the tool`, example: code } }),
  })
}
