import { ELLIPSIS } from '../../contract/wide-characters.ts'

// Whole sequences that steer a terminal, then whatever control characters and text directions are left. The classes are disjoint, so the time is linear.
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]P^_X]|[\u009d\u0090\u009e\u009f\u0098])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?/g
const CONTROLS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g
// Text that a model reads and a person does not see.
const INVISIBLE = /[\u200b\u2060-\u2064]|\udb40[\udc00-\udc7f]/g
const LONE_HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Words of somebody else as people and models may see them: no escapes, nothing invisible, not too long; undefined for what is no text or has nothing in it. */
export function cleanText(given: unknown, longest: number): string | undefined {
  if (typeof given !== 'string') return undefined
  // A bound before any work.
  const text = given
    .slice(0, longest * 2)
    .replace(/\r\n?/g, '\n')
    .replace(SEQUENCES, '')
    .replace(CONTROLS, '')
    .replace(INVISIBLE, '')
    .replace(LONE_HALVES, '\ufffd')
    .trim()
  if (text === '') return undefined
  return text.length <= longest
    ? text
    : `${text
        .slice(0, longest - 1)
        .replace(LONE_HALVES, '')
        .trimEnd()}${ELLIPSIS}`
}
