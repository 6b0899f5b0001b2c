import { isObject } from '../../contract/json.ts'
import type { CallForm } from '../child/child-call.ts'
import {
  findNameProblem,
  findPermissionsProblem,
  own,
  readFacts,
  textMapOf,
  textsOf,
} from './facts.ts'
import type { ManifestFile, Runner } from './manifest.ts'
import type { Reading } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'
import { readServer } from './named-server.ts'

type Data = { readonly [key: string]: unknown }

const WAYS: {
  readonly [command: string]: {
    readonly runner: Runner
    readonly form: CallForm
    readonly free?: true
  }
} = {
  python: { runner: 'python', form: 'json' },
  'python-cli': { runner: 'python', form: 'flags' },
  bash: { runner: 'bash', form: 'json' },
  'bash-cli': { runner: 'bash', form: 'flags' },
  node: { runner: 'node', form: 'json', free: true },
  exec: { runner: 'exec', form: 'json', free: true },
}
const FORMS = ['json', 'flags', 'stdin', 'protocol'] as const satisfies readonly CallForm[]

/** Reads a manifest of the fractalic form: `name, description, command, entry, parameters`. */
export function readFractalic(data: Data): Reading<ManifestFile> {
  const name = own(data, 'name')
  const unnamed = findNameProblem(name)
  if (unnamed !== undefined) return refuse('manifest', unnamed, "Add a line 'name: ...'")
  const parameters = own(data, 'parameters') ?? undefined
  if (
    parameters !== undefined &&
    (!isObject(parameters) || (own(parameters, 'type') ?? 'object') !== 'object')
  )
    return refuse(
      'manifest',
      "has 'parameters' that are no JSON Schema of an object",
      'Write parameters: {type: object, properties: {...}}',
    )
  const wide = findPermissionsProblem(data)
  if (wide) return wide
  const facts = {
    ...readFacts(data),
    ...(isObject(parameters) && { inputSchema: { type: 'object', ...parameters } }),
  }
  const command = own(data, 'command') as string
  if (command === 'mcp' && facts.permissions)
    return refuse(
      'manifest',
      "has 'permissions', which cannot be enforced for a server that many calls share",
      "Take 'permissions' out, and start the server in a sandbox of its own",
    )
  if (command === 'mcp') return readServer(data, name as string, facts, parameters !== undefined)
  const entry = own(data, 'entry')
  if (typeof entry !== 'string' || entry.trim() === '')
    return refuse('manifest', "has no 'entry'", "Add a line 'entry: <the program>'")
  const { runner, form: usual, free } = WAYS[command]!
  const form = own(data, 'call') ?? usual
  if (!(FORMS as readonly unknown[]).includes(form) || (!free && form !== usual))
    return refuse(
      'manifest',
      `has 'call: ${String(form).slice(0, 40)}'`,
      free
        ? `Write one of ${FORMS.join(', ')}`
        : `Take it out: the command ${command} is always called by ${usual}; node and exec may choose`,
    )
  const env = own(data, 'env')
  const given = isObject(env) && !Array.isArray(own(env, 'require')) ? textMapOf(env) : undefined
  const required = isObject(env) ? textsOf(own(env, 'require')) : []
  return {
    value: {
      style: 'fractalic',
      name: name as string,
      facts,
      entry,
      runner,
      ...(typeof own(data, 'version') === 'string' && { version: own(data, 'version') as string }),
      call: {
        form: form as CallForm,
        ...(given && { env: given }),
        ...(required.length > 0 && { requireEnv: required }),
      },
    },
  }
}
