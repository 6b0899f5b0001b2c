import type { Shape } from '../../contract/documents/shape.ts'
import { RESOURCES_SHAPE } from '../permissions/shape.ts'

const texts: Shape = { is: 'list', of: { is: 'text' } }
const on: Shape = { is: 'switch' }

const RULES: { readonly [key: string]: Shape } = {
  min_level: { is: 'text' },
  allow_level_override: on,
  require_permissions: on,
  filesystem: { is: 'object', keys: { read: texts, write: texts } },
  network: { is: 'either', short: { is: 'text' }, long: { is: 'object', keys: { egress_allow: texts, local_allow: texts } } },
  resources: RESOURCES_SHAPE,
  secrets: texts,
}

/** What may stand in a policy. */
export const POLICY_SHAPE: Shape = {
  is: 'object',
  keys: { version: { is: 'anything' }, ...RULES, tools: { is: 'map', of: { is: 'object', keys: RULES } }, answers: { is: 'map', of: { is: 'anything' } } },
  required: ['version'],
}
