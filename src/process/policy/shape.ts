import type { Shape } from '../../contract/documents/shape.ts'
import { LEVELS } from '../permissions/grants.ts'
import { RESOURCES_SHAPE } from '../permissions/shape.ts'

/** A server in a policy: `host:port`, where the host may begin with `*.` or be `*`, and the port may be `*`. */
export const SERVER =
  /^(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:]+\]):(\*|[1-9]\d{0,4})$/

// Absolute, or from the policy or the home; everything in it with /** at the end; no other patterns, and no way upwards.
const PLACE =
  '^(?!.*(^|/)\\.\\.(/|$))(/[^*?\\[\\]{}\\u0000-\\u001f]*|[.~](/[^*?\\[\\]{}\\u0000-\\u001f]*)?)?(/\\*\\*)?$'

const texts: Shape = { is: 'list', of: { is: 'text' } }
const servers: Shape = { is: 'list', of: { is: 'text', schema: { pattern: SERVER.source } } }
const places: Shape = { is: 'list', of: { is: 'text', schema: { pattern: PLACE } } }
const about = <Given extends Shape>(shape: Given, description: string): Given => ({
  ...shape,
  schema: { ...shape.schema, description },
})

const RULES: { readonly [key: string]: Shape } = {
  min_level: {
    is: 'text',
    schema: { enum: LEVELS, description: 'The least level that any tool runs at' },
  },
  allow_level_override: about(
    { is: 'switch' },
    'Whether --allow-level may be used; false refuses it',
  ),
  require_permissions: about({ is: 'switch' }, 'Whether tools without permissions are refused'),
  filesystem: about(
    {
      is: 'object',
      keys: {
        read: about(places, 'Folders and files that tools may read, with everything in them'),
        write: about(places, 'Folders and files that tools may write, with everything in them'),
      },
    },
    'What tools may read and write at most; ./ starts at the policy, ~/ at your home',
  ),
  network: about(
    {
      is: 'either',
      short: { is: 'text', schema: { enum: ['none', 'full'] } },
      long: {
        is: 'object',
        keys: {
          egress_allow: about(servers, 'Servers: host:port, *.example.com:443, *:443'),
          local_allow: about(servers, 'Servers of this machine: localhost:5432'),
        },
      },
    },
    'Which servers tools may talk to at most',
  ),
  resources: about(RESOURCES_SHAPE, 'The most of each limit'),
  secrets: about(texts, 'Names of secrets that tools may have'),
}

/** What may stand in a policy. */
export const POLICY_SHAPE: Shape = {
  is: 'object',
  keys: {
    version: { is: 'anything', schema: { const: 1, description: 'The version of this form' } },
    ...RULES,
    tools: about(
      { is: 'map', of: { is: 'object', keys: RULES } },
      'The same keys for tools whose id (<source>.<tool>) fits; * is any text. They narrow, they never widen',
    ),
    answers: about(
      { is: 'map', of: { is: 'anything' } },
      'Answers to questions of tools, by key or action',
    ),
  },
  required: ['version'],
}
