import { expect, test } from 'vitest'
import { shouldUseColor } from '../../../src/cli/formats/terminal-text.ts'

test.each([
  [{}, true, false, true],
  [{}, false, false, false],
  [{ NO_COLOR: '1' }, true, false, false],
  [{ NO_COLOR: '' }, true, false, true],
  [{ FORCE_COLOR: '1' }, false, false, true],
  [{ FORCE_COLOR: '3' }, false, false, true],
  [{ FORCE_COLOR: '0' }, true, false, false],
  [{ FORCE_COLOR: 'false' }, true, false, false],
  [{ FORCE_COLOR: '' }, false, false, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, false, false],
  [{ FORCE_COLOR: '1' }, true, true, false],
  [{ TERM: 'dumb' }, true, false, false],
  [{ TERM: 'dumb', FORCE_COLOR: '1' }, true, false, true],
])('%j, terminal %s, --no-color %s → %s', (env, isTTY, noColorFlag, expected) => {
  expect(shouldUseColor({ env, isTTY, noColorFlag })).toBe(expected)
})
