/**
 * Reads manifests in YAML: the fractalic form, the orchestration form, and error_codes.yaml.
 */

import type { ReadProblem, ReadResult } from '../../protocol/documents.ts'
import { failReading } from '../../protocol/documents.ts'
import type { DeclaredError, ErrorCategory } from '../../protocol/errors.ts'
import { findErrorRow } from '../../protocol/errors.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact, isObject, ownFields } from '../../util/values.ts'
import type { CallForm } from '../child/child-call.ts'
import type { ManifestFile, ScriptRunner } from './metadata.ts'
import {
  filterTexts,
  findNameProblem,
  findPermissionsProblem,
  isObjectSchema,
  readMetadata,
  readPermissions,
  readServerManifest,
  toTextMap,
} from './metadata.ts'

/** The commands of the fractalic form: how each is started and called. */
const FRACTALIC_COMMANDS: {
  readonly [command: string]: {
    readonly runner: ScriptRunner
    readonly form: CallForm
    /** The manifest may choose another form. */
    readonly mayChoose?: true
  }
} = {
  python: { runner: 'python', form: 'json' },
  'python-cli': { runner: 'python', form: 'flags' },
  'bash-cli': { runner: 'bash', form: 'flags' },
  bash: { runner: 'bash', form: 'json' },
  // A server; see readServerManifest.
  mcp: { runner: 'exec', form: 'json' },
  node: { runner: 'node', form: 'json', mayChoose: true },
  exec: { runner: 'exec', form: 'json', mayChoose: true },
}
const FRACTALIC_CALL_FORMS: readonly CallForm[] = ['json', 'flags', 'stdin', 'protocol']

function reject(message: string, fix: string): { readonly problem: ReadProblem } {
  return failReading('manifest', message, fix)
}

/**
 * Decides by its keys what a parsed YAML file is; undefined: no manifest at all. `registered` files
 * are in a place for manifests of the orchestration form only.
 */
export function readManifest(
  document: unknown,
  registered = false,
): ReadResult<ManifestFile> | undefined {
  if (!isObject(document))
    return registered
      ? reject('is not a mapping', 'Write name, version and entry, one a line')
      : undefined
  const data = ownFields(document)
  const has = (key: string): boolean => data[key] !== undefined && data[key] !== null
  const commands = Object.keys(FRACTALIC_COMMANDS)
  if (has('command')) {
    const command = data['command']
    if (typeof command === 'string' && commands.includes(command))
      return readFractalic(data, command)
    if (!has('name') || !(has('entry') || has('parameters'))) return undefined
    return reject(
      `has the command ${JSON.stringify(command)?.slice(0, 80)}`,
      `Write one of ${commands.join(', ')}`,
    )
  }
  if (
    registered ||
    (has('entry') && (has('protocol_version') || has('permissions') || has('inputs')))
  )
    return readOrchestration(data)
  if (!has('name')) return undefined
  if (has('entry'))
    return reject(
      "has 'name' and 'entry' but nothing that says how it is called",
      `Add command: ${commands.join(' | ')}, or protocol_version: 1`,
    )
  const entryFix = 'Add the entry: the program that is called'
  if (has('parameters'))
    return reject("has 'name' and 'parameters' but neither 'command' nor 'entry'", entryFix)
  if (has('protocol_version') || Array.isArray(data['inputs']))
    return reject("has 'name' but no 'entry'", entryFix)
  return undefined
}

function rejectName(name: unknown): { readonly problem: ReadProblem } | undefined {
  const problem = findNameProblem(name)
  return problem === undefined ? undefined : reject(problem, "Add a line 'name: ...'")
}

/** Reads a manifest of the fractalic form: `name, description, command, entry, parameters`. */
function readFractalic(data: JsonObject, command: string): ReadResult<ManifestFile> {
  const name = data['name'] as string
  const parameters = data['parameters'] ?? undefined
  const unnamed = rejectName(name)
  if (unnamed) return unnamed
  if (parameters !== undefined && !isObjectSchema(parameters))
    return reject(
      "has 'parameters' that are no JSON Schema of an object",
      'Write parameters: {type: object, properties: {...}}',
    )
  const wide = findPermissionsProblem(data)
  if (wide) return wide
  const inputSchema = parameters && { type: 'object', ...parameters }
  const facts = { ...readMetadata(data), ...compact({ inputSchema }) }
  if (command === 'mcp' && facts.permissions)
    return reject(
      "has 'permissions', which cannot be enforced for a server that many calls share",
      "Take 'permissions' out, and start the server in a sandbox of its own",
    )
  if (command === 'mcp') return readServerManifest(data, name, facts, parameters !== undefined)
  const { entry, version, env } = data
  if (typeof entry !== 'string' || entry.trim() === '')
    return reject("has no 'entry'", "Add a line 'entry: <the program>'")
  const { runner, form: usual, mayChoose } = FRACTALIC_COMMANDS[command]!
  const form = (data['call'] ?? usual) as CallForm
  if (form !== usual && !mayChoose)
    return reject(
      `has 'call: ${String(form).slice(0, 40)}'`,
      `Take it out: the command ${command} is always called by ${usual}; node and exec may choose`,
    )
  if (!FRACTALIC_CALL_FORMS.includes(form))
    return reject(
      `has 'call: ${String(form).slice(0, 40)}'`,
      `Write one of ${FRACTALIC_CALL_FORMS.join(', ')}`,
    )
  const isRequireList = Array.isArray(ownFields(env)['require'])
  return {
    value: compact({
      style: 'fractalic',
      name,
      facts,
      entry,
      runner,
      version: typeof version === 'string' ? version : undefined,
      call: compact({
        form,
        env: isRequireList ? undefined : toTextMap(env),
        requireEnv: toTextsOrNothing(ownFields(env)['require']),
      }),
    }),
  }
}

function toTextsOrNothing(value: unknown): string[] | undefined {
  const texts = filterTexts(value)
  return texts.length > 0 ? texts : undefined
}

/**
 * Reads a manifest of the orchestration form: `name, version, entry, protocol_version, inputs,
 * permissions, resources, env, exit_codes, orchestrator`.
 */
function readOrchestration(data: JsonObject): ReadResult<ManifestFile> {
  const name = data['name'] as string
  const unnamed = rejectName(name)
  if (unnamed) return unnamed
  const entry = data['entry'] ?? undefined
  if (entry !== undefined && (typeof entry !== 'string' || entry.trim() === ''))
    return reject("has an 'entry' that is not a path", "Write 'entry: cli.py', or leave it out")
  const protocol = data['protocol_version'] ?? undefined
  if (protocol !== undefined && String(protocol) !== '1')
    return reject(
      `wants protocol_version ${JSON.stringify(protocol)?.slice(0, 40)}`,
      'Write protocol_version: 1, the only one there is',
    )
  const inputs = toInputsSchema(data['inputs'] ?? undefined)
  if (inputs && 'problem' in inputs) return inputs
  const wide = findPermissionsProblem(data)
  if (wide) return wide
  const isOrchestrator = data['orchestrator'] === true
  const grants = [data['permissions'], data['resources'], data['secrets']]
  if (isOrchestrator && grants.some((each) => each !== undefined && each !== null))
    return reject(
      "is an orchestrator, which runs with its caller's rights, and has permissions",
      'Take out one of the two; the tools that it starts have permissions of their own',
    )
  const { version, exit_codes: exitCodes } = data
  const hasVersion = typeof version === 'string' || typeof version === 'number'
  // A manifest of this form confines its tool, also where it asks for nothing. An orchestrator
  // cannot be confined, but the tools that it starts are.
  const more = compact({
    inputSchema: inputs?.value,
    permissions: isOrchestrator ? undefined : readPermissions(data),
  })
  return {
    value: compact({
      style: 'orchestration',
      name,
      version: hasVersion ? String(version) : undefined,
      facts: { ...readMetadata(data), ...more },
      orchestrator: isOrchestrator || undefined,
      entry,
      call: compact({
        form: protocol === undefined ? 'flags' : 'protocol',
        requireEnv: toTextsOrNothing(ownFields(data['env'])['require']),
        exitCodes: isObject(exitCodes) ? pickExitCodes(exitCodes) : undefined,
      }),
      selftest: toTextsOrNothing(ownFields(data['health'])['selftest']),
    }),
  }
}

function pickExitCodes(codes: JsonObject): { readonly [meaning: string]: number } {
  const isExitCode = (code: unknown): code is number =>
    Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 255
  return Object.fromEntries(
    Object.entries(codes).filter((entry): entry is [string, number] => isExitCode(entry[1])),
  )
}

const INPUT_TYPES: { readonly [type: string]: JsonSchema } = {
  string: { type: 'string' },
  str: { type: 'string' },
  text: { type: 'string' },
  path: { type: 'string', format: 'path' },
  file: { type: 'string', format: 'path' },
  directory: { type: 'string', format: 'path' },
  integer: { type: 'integer' },
  int: { type: 'integer' },
  number: { type: 'number' },
  float: { type: 'number' },
  boolean: { type: 'boolean' },
  bool: { type: 'boolean' },
  flag: { type: 'boolean' },
  array: { type: 'array' },
  list: { type: 'array' },
  object: { type: 'object', additionalProperties: true },
  json: {},
  any: {},
  enum: {},
}
const COPIED_KEYWORDS = [
  'description',
  'default',
  'enum',
  'minimum',
  'maximum',
  'pattern',
  'items',
] as const

const INPUT_FIX = 'Write each input as - {name: source, type: path, required: true}'

/**
 * The schema of a list of inputs: `- {name: source, type: path, required: true}`. Undefined where
 * there is no list.
 */
function toInputsSchema(inputs: unknown): ReadResult<JsonSchema> | undefined {
  if (inputs === undefined) return undefined
  if (!Array.isArray(inputs)) return reject("has 'inputs' that are not a list", INPUT_FIX)
  const properties: { [name: string]: JsonSchema } = {}
  const required: string[] = []
  for (const each of inputs as readonly unknown[]) {
    const input = ownFields(each)
    const { name } = input
    const type = input['type'] ?? 'string'
    if (typeof name !== 'string' || name === '' || name === '__proto__')
      return reject('has an input without a name', INPUT_FIX)
    if (Object.hasOwn(properties, name))
      return reject(`has the input '${name}' twice`, 'Take one of them out')
    if (typeof type !== 'string' || !Object.hasOwn(INPUT_TYPES, type))
      return reject(
        `has the input '${name}' of the unknown type ${JSON.stringify(type)?.slice(0, 40)}`,
        `Write one of ${Object.keys(INPUT_TYPES).join(', ')}`,
      )
    properties[name] = toInputSchema(input, INPUT_TYPES[type]!)
    if (isTruthyText(input['required'])) required.push(name)
  }
  return {
    value: compact({
      type: 'object',
      properties,
      required: required.length > 0 ? required : undefined,
      additionalProperties: false,
    }),
  }
}

function toInputSchema(input: JsonObject, type: JsonSchema): JsonSchema {
  const choices = input['choices'] ?? input['values']
  const { direction } = input
  const hasDirection =
    type['format'] === 'path' &&
    (direction === 'in' || direction === 'out' || direction === 'inout')
  return {
    ...type,
    ...compact(Object.fromEntries(COPIED_KEYWORDS.map((key) => [key, input[key]]))),
    ...compact({
      enum: Array.isArray(choices) ? choices : undefined,
      'x-toolable-path': hasDirection ? { direction } : undefined,
    }),
  }
}

// Older YAML says yes and on, which the present one reads as text.
function isTruthyText(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^(true|yes|on)$/i.test(value))
}

export type ErrorCodes = { readonly [code: string]: DeclaredError }

const CATEGORIES_BY_CLASS: { readonly [className: string]: ErrorCategory } = {
  user_error: 'input',
  policy_error: 'auth',
  retryable: 'runtime',
  infra_error: 'runtime',
  unknown: 'internal',
}

/**
 * Reads `registry/error_codes.yaml`: `codes: {E_MY_THING: {class: user_error, retryable: false}}`.
 */
export function readErrorCodes(document: unknown): ReadResult<ErrorCodes> {
  const { codes } = ownFields(document)
  if (!isObject(codes))
    return failReading(
      'error-codes',
      "has no mapping 'codes'",
      'Write codes: {E_MY_THING: {class: user_error, retryable: false}}',
    )
  const declared: { [code: string]: DeclaredError } = {}
  for (const [code, given] of Object.entries(codes)) {
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code))
      return failReading(
        'error-codes',
        `has the code '${code.slice(0, 80)}'`,
        'Write codes in capital letters, digits and _, like E_MY_THING',
      )
    const data = ownFields(given)
    const className = data['class'] ?? 'unknown'
    if (typeof className !== 'string' || !Object.hasOwn(CATEGORIES_BY_CLASS, className))
      return failReading(
        'error-codes',
        `has the class ${JSON.stringify(className)?.slice(0, 40)} at ${code}`,
        `Write one of ${Object.keys(CATEGORIES_BY_CLASS).join(', ')}`,
      )
    const { retryable } = data
    const message = data['message'] ?? data['description']
    const hasMessage = typeof message === 'string' && message.trim() !== ''
    declared[code] = {
      category: CATEGORIES_BY_CLASS[className]!,
      message: hasMessage ? message : (findErrorRow(code)?.row.meaning ?? toErrorWords(code)),
      retryable: typeof retryable === 'boolean' ? retryable : className === 'retryable',
      recoverable: className === 'user_error',
    }
  }
  return { value: declared }
}

function toErrorWords(code: string): string {
  const words = code.replace(/^E_/, '').replaceAll('_', ' ').toLowerCase().trim()
  return words === '' ? code : words[0]!.toUpperCase() + words.slice(1)
}
