import { isObject } from '../../contract/json.ts'
import { own } from './facts.ts'
import { readFractalic } from './fractalic.ts'
import type { ManifestFile } from './manifest.ts'
import { readOrchestration } from './orchestration.ts'
import type { Reading } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'

/** The commands of the fractalic form. */
export const COMMANDS = ['python', 'python-cli', 'bash-cli', 'bash', 'mcp', 'node', 'exec'] as const

type Data = { readonly [key: string]: unknown }

/** Tells by its keys what a parsed YAML file is; undefined: no manifest at all. `registered` files lie where only manifests of the orchestration form lie. */
export function readManifest(data: unknown, registered = false): Reading<ManifestFile> | undefined {
  if (!isObject(data))
    return registered
      ? refuse('manifest', 'is not a mapping', 'Write name, version and entry, one a line')
      : undefined
  const has = (key: string): boolean => own(data, key) !== undefined && own(data, key) !== null
  if (has('command')) return isCommand(data) ? readFractalic(data) : findNearCommand(data, has)
  if (
    registered ||
    (has('entry') && (has('protocol_version') || has('permissions') || has('inputs')))
  )
    return readOrchestration(data)
  if (has('name') && has('entry'))
    return refuse(
      'manifest',
      "has 'name' and 'entry' but nothing that says how it is called",
      `Add command: ${COMMANDS.join(' | ')}, or protocol_version: 1`,
    )
  if (
    has('name') &&
    (has('parameters') || has('protocol_version') || Array.isArray(own(data, 'inputs')))
  )
    return refuse(
      'manifest',
      has('parameters')
        ? "has 'name' and 'parameters' but neither 'command' nor 'entry'"
        : "has 'name' but no 'entry'",
      'Add the entry: the program that is called',
    )
  return undefined
}

function isCommand(data: Data): boolean {
  return (COMMANDS as readonly unknown[]).includes(own(data, 'command'))
}

function findNearCommand(
  data: Data,
  has: (key: string) => boolean,
): Reading<ManifestFile> | undefined {
  if (!has('name') || !(has('entry') || has('parameters'))) return undefined
  return refuse(
    'manifest',
    `has the command ${JSON.stringify(own(data, 'command'))?.slice(0, 80)}`,
    `Write one of ${COMMANDS.join(', ')}`,
  )
}
