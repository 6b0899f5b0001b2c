import { isObject } from '../../../contract/json.ts'
import type { Permissions } from '../../../contract/manifest.ts'

/** What a tool may do, a few words for each right; undefined where nobody has said. */
export function permissionWords(
  permissions: Permissions | undefined,
): readonly string[] | undefined {
  if (!permissions) return undefined
  const words = [...fileWords(permissions.filesystem), ...networkWords(permissions.network)]
  return words.length === 0 ? ['nothing outside its workspace'] : words
}

function fileWords(files: Permissions['filesystem']): readonly string[] {
  if (files === 'read' || files === 'read-only') return ['read files']
  if (files === 'read-write') return ['read and write files']
  return isObject(files)
    ? [
        ...listOf(files['read']).map((path) => `read ${path}`),
        ...listOf(files['write']).map((path) => `write ${path}`),
      ]
    : []
}

function networkWords(network: Permissions['network']): readonly string[] {
  if (network === 'full') return ['the whole network']
  return isObject(network)
    ? listOf(network['egress_allow']).map((server) => `egress ${server}`)
    : []
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}
