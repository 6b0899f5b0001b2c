import type { Shape } from '../../contract/documents/shape.ts'

/** The limits that a manifest may name: how each is called, and the least and the most that makes sense. */
export const LIMITS = {
  cpu_seconds: { limit: 'cpuSeconds', least: 1, most: 7 * 86_400 },
  memory_mb: { limit: 'memoryMb', least: 16, most: 1024 * 1024 },
  processes: { limit: 'processes', least: 1, most: 65_536 },
  file_mb: { limit: 'fileMb', least: 1, most: 1024 * 1024 },
  workspace_mb: { limit: 'workspaceMb', least: 1, most: 1024 * 1024 },
  output_mb: { limit: 'outputMb', least: 1, most: 65_536 },
  line_kb: { limit: 'lineKb', least: 1, most: 65_536 },
  grace_ms: { limit: 'graceMs', least: 0, most: 60_000 },
} as const

export type LimitName = keyof typeof LIMITS

const texts: Shape = { is: 'list', of: { is: 'text' } }

/** What may stand in `resources`; the numbers are looked at one by one. */
export const RESOURCES_SHAPE: Shape = {
  is: 'object',
  keys: Object.fromEntries(
    Object.entries(LIMITS).map(([name, { least, most }]): [string, Shape] => [
      name,
      { is: 'anything', schema: { type: 'integer', minimum: least, maximum: most } },
    ]),
  ),
}

/** What may stand in the permissions of a manifest. */
export const PERMISSIONS_SHAPE: Shape = {
  is: 'object',
  keys: {
    filesystem: {
      is: 'either',
      short: { is: 'text' },
      long: { is: 'object', keys: { read: texts, write: texts } },
    },
    network: {
      is: 'either',
      short: { is: 'text' },
      long: { is: 'object', keys: { egress_allow: texts } },
    },
    resources: RESOURCES_SHAPE,
    secrets: {
      is: 'list',
      of: {
        is: 'either',
        short: { is: 'text' },
        long: {
          is: 'object',
          keys: { name: { is: 'text' }, file: { is: 'text' } },
          required: ['name'],
        },
      },
    },
  },
}
