import { isObject } from '../../contract/json.ts'
import {
  findNameProblem,
  findPermissionsProblem,
  own,
  readFacts,
  readPermissions,
  textsOf,
} from './facts.ts'
import { schemaOfInputs } from './inputs.ts'
import type { ManifestFile } from './manifest.ts'
import type { Reading } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'

type Data = { readonly [key: string]: unknown }

/** Reads a manifest of the orchestration form: `name, version, entry, protocol_version, inputs, permissions, resources, env, exit_codes, orchestrator`. */
export function readOrchestration(data: Data): Reading<ManifestFile> {
  const name = own(data, 'name')
  const unnamed = findNameProblem(name)
  if (unnamed !== undefined) return refuse('manifest', unnamed, "Add a line 'name: ...'")
  const entry = own(data, 'entry') ?? undefined
  if (entry !== undefined && (typeof entry !== 'string' || entry.trim() === ''))
    return refuse(
      'manifest',
      "has an 'entry' that is not a path",
      "Write 'entry: cli.py', or leave it out",
    )
  const protocol = own(data, 'protocol_version') ?? undefined
  if (protocol !== undefined && String(protocol) !== '1')
    return refuse(
      'manifest',
      `wants protocol_version ${JSON.stringify(protocol)?.slice(0, 40)}`,
      'Write protocol_version: 1, the only one there is',
    )
  const inputs = schemaOfInputs(own(data, 'inputs') ?? undefined)
  if (inputs && 'problem' in inputs) return inputs
  const wide = findPermissionsProblem(data)
  if (wide) return wide
  const orchestrator = own(data, 'orchestrator') === true
  if (
    orchestrator &&
    ['permissions', 'resources', 'secrets'].some(
      (key) => (own(data, key) ?? undefined) !== undefined,
    )
  )
    return refuse(
      'manifest',
      "is an orchestrator, which runs with its caller's rights, and has permissions",
      'Take out one of the two; the tools that it starts have permissions of their own',
    )
  const version = own(data, 'version')
  const env = own(data, 'env')
  const required = isObject(env) ? textsOf(own(env, 'require')) : []
  const exitCodes = readExitCodes(own(data, 'exit_codes'))
  const health = own(data, 'health')
  const selftest = isObject(health) ? textsOf(own(health, 'selftest')) : []
  return {
    value: {
      style: 'orchestration',
      name: name as string,
      ...((typeof version === 'string' || typeof version === 'number') && {
        version: String(version),
      }),
      // A manifest of this form binds its tool, also where it asks for nothing; only what starts other tools cannot be bound, and they are.
      facts: {
        ...readFacts(data),
        ...(inputs && { inputSchema: inputs.value }),
        ...(!orchestrator && { permissions: readPermissions(data) }),
      },
      ...(orchestrator && { orchestrator }),
      ...(entry !== undefined && { entry: entry }),
      call: {
        form: protocol === undefined ? 'flags' : 'protocol',
        ...(required.length > 0 && { requireEnv: required }),
        ...(exitCodes && { exitCodes }),
      },
      ...(selftest.length > 0 && { selftest }),
    },
  }
}

function readExitCodes(value: unknown): { readonly [meaning: string]: number } | undefined {
  if (!isObject(value)) return undefined
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, number] =>
        Number.isInteger(entry[1]) && (entry[1] as number) >= 0 && (entry[1] as number) <= 255,
    ),
  )
}
