import { expect, test } from 'vitest'
import {
  ERROR_TABLE,
  toExitCode,
  getErrorInfo,
  findErrorRow,
  toHttpStatus,
  toProtocolCode,
} from '../../src/protocol/errors.ts'
import type { ErrorRow } from '../../src/protocol/errors.ts'
import { ToolError } from '../../src/protocol/tool-error.ts'

// code, class, category, exit, http, recoverable, retryable, numbers, names of the run protocol
const PINNED = `
INVALID_INPUT         user_error   input    2   400 yes no  E1000 E_SCHEMA_MISMATCH
MISSING_PARAM         user_error   input    2   400 yes no  E1001 -
USAGE                 user_error   input    2   400 yes no  E1001 -
INVALID_PATH          user_error   input    66  400 yes no  E1003 E_INPUT_NOT_FOUND
NOT_FOUND             user_error   state    66  404 yes no  E3001 E_INPUT_NOT_FOUND
CONFLICT              user_error   state    73  409 yes no  E3002 -
PRECONDITION          user_error   state    1   412 yes no  E3000 -
PERMISSION            policy_error auth     77  403 no  no  E2000 E_PERMISSION
CONFIRMATION_REQUIRED user_error   auth     77  403 yes no  E2003 -
SANDBOX_UNAVAILABLE   policy_error auth     69  503 no  no  -     E_SANDBOX_UNAVAILABLE
ANSWER_REQUIRED       user_error   state    77  409 yes no  -     -
DEPENDENCY            retryable    runtime  69  502 no  yes E4002 E_TRANSIENT_NET
RATE_LIMIT            retryable    runtime  75  429 no  yes E4003 E_RATE_LIMIT
TIMEOUT               infra_error  runtime  124 504 no  no  E4001 E_TIMEOUT,E_DEADLINE
HEARTBEAT_MISSED      infra_error  runtime  124 504 no  yes E4005 E_HEARTBEAT_MISSED
INTERRUPTED           infra_error  runtime  1   503 no  yes E4009 -
OUTPUT_LIMIT          infra_error  runtime  1   500 no  no  E4008 -
DISK_FULL             infra_error  runtime  73  507 no  no  E4006 E_DISK_FULL
CANCELLED             cancelled    runtime  130 499 no  no  E4007 -
CONFIG                user_error   internal 78  500 yes no  E5001 -
INTERNAL              unknown      internal 1   500 no  no  E5000 E_UNKNOWN
`

const word = (value: boolean) => (value ? 'yes' : 'no')
const list = (values: readonly string[] = []) => values.join(',') || '-'

test('the table of codes is what the world was told', () => {
  const rows = Object.entries(ERROR_TABLE as Record<string, ErrorRow>).map(([code, row]) =>
    [
      code,
      row.class,
      row.category,
      row.exit,
      row.http,
      word(row.recoverable),
      word(row.retryable),
      list(row.numbers),
      list(row.protocol),
    ].join(' '),
  )
  expect(rows).toEqual(
    PINNED.trim()
      .split('\n')
      .map((line) => line.replace(/ +/g, ' ')),
  )
})

test('every row says what it means and what to do', () => {
  for (const row of Object.values(ERROR_TABLE as Record<string, ErrorRow>)) {
    expect(row.meaning.length).toBeGreaterThan(5)
    expect(row.advice.length).toBeGreaterThan(5)
  }
})

test.each([
  ['E_INPUT_NOT_FOUND', 'NOT_FOUND'],
  ['E_SCHEMA_MISMATCH', 'INVALID_INPUT'],
  ['E_TRANSIENT_NET', 'DEPENDENCY'],
  ['E_RATE_LIMIT', 'RATE_LIMIT'],
  ['E_DEADLINE', 'TIMEOUT'],
  ['E_TIMEOUT', 'TIMEOUT'],
  ['E_DISK_FULL', 'DISK_FULL'],
  ['E_PERMISSION', 'PERMISSION'],
  ['E_HEARTBEAT_MISSED', 'HEARTBEAT_MISSED'],
  ['E_UNKNOWN', 'INTERNAL'],
  ['E_SANDBOX_UNAVAILABLE', 'SANDBOX_UNAVAILABLE'],
  ['E1000', 'INVALID_INPUT'],
  ['E1001', 'MISSING_PARAM'],
  ['E1003', 'INVALID_PATH'],
  ['E2000', 'PERMISSION'],
  ['E2003', 'CONFIRMATION_REQUIRED'],
  ['E3000', 'PRECONDITION'],
  ['E3001', 'NOT_FOUND'],
  ['E3002', 'CONFLICT'],
  ['E4001', 'TIMEOUT'],
  ['E5000', 'INTERNAL'],
  ['E5001', 'CONFIG'],
  ['E_USAGE', 'USAGE'],
  ['E_CANCELLED', 'CANCELLED'],
  ['NOT_FOUND', 'NOT_FOUND'],
])('%s is read back as %s', (name, code) => {
  expect(findErrorRow(name)?.code).toBe(code)
})

test.each(['E3101', 'E_MY_THING', 'MY_THING', '__proto__', 'constructor', ''])(
  '%j is no code of the table',
  (code) => {
    expect(findErrorRow(code)).toBeUndefined()
  },
)

test.each([
  ['INVALID_PATH', 'E_INPUT_NOT_FOUND'],
  ['TIMEOUT', 'E_TIMEOUT'],
  ['INTERNAL', 'E_UNKNOWN'],
  ['CONFLICT', 'E_CONFLICT'],
  ['MISSING_PARAM', 'E_MISSING_PARAM'],
  ['E3001', 'E_INPUT_NOT_FOUND'],
  ['E3101', 'E3101'],
  ['E_MY_THING', 'E_MY_THING'],
  ['MY_THING', 'E_MY_THING'],
])('event lines write %s as %s', (code, name) => {
  expect(toProtocolCode(code)).toBe(name)
})

test('exit status depends on how the input came only for errors of the input', () => {
  const error = (code: string) => ({ code, ...getErrorInfo(code) })
  expect(toExitCode(error('INVALID_INPUT'))).toBe(2)
  expect(toExitCode(error('INVALID_INPUT'), 'json')).toBe(65)
  expect(toExitCode(error('USAGE'), 'unreadable')).toBe(64)
  expect(toExitCode(error('USAGE'), 'json')).toBe(2)
  expect(toExitCode(error('MISSING_PARAM'), 'json')).toBe(2)
  expect(toExitCode(error('E3001'), 'json')).toBe(66)
})

test.each([
  // code, declared, category, recoverable, exit by flags, exit by JSON, http
  ['E1101', undefined, 'input', true, 2, 65, 400],
  ['E2101', undefined, 'auth', false, 77, 77, 403],
  ['E3101', undefined, 'state', true, 1, 1, 409],
  ['E4101', undefined, 'runtime', false, 1, 1, 500],
  ['E4102', { message: '', retryable: true }, 'runtime', false, 75, 75, 503],
  ['E5101', undefined, 'internal', false, 1, 1, 500],
  ['E_MY_THING', undefined, 'runtime', false, 1, 1, 500],
  ['E_MY_THING', { message: '', category: 'auth' }, 'auth', false, 77, 77, 403],
  ['E4004', { message: '', category: 'input' }, 'runtime', false, 1, 1, 500],
] as const)(
  'the tools’ own %s declared as %j',
  (code, declared, category, recoverable, byFlags, byJson, http) => {
    const facts = getErrorInfo(code, declared)
    expect(facts).toMatchObject({ category, recoverable })
    expect(toExitCode({ code, ...facts })).toBe(byFlags)
    expect(toExitCode({ code, ...facts }, 'json')).toBe(byJson)
    expect(toHttpStatus({ code, ...facts })).toBe(http)
  },
)

test('an error under another name is the same error, and the table says where it belongs', () => {
  expect(new ToolError('E3001', 'x').toObject()).toEqual({
    code: 'NOT_FOUND',
    category: 'state',
    message: 'x',
    recoverable: true,
    retryable: false,
  })
  expect(
    new ToolError('NOT_FOUND', 'x', { category: 'auth', recoverable: false }).toObject(),
  ).toMatchObject({ category: 'state', recoverable: false })
})

test('a tool’s own table decides what the author left open', () => {
  const declared = {
    E3101: { category: 'auth', message: 'No', retryable: true },
    NOT_FOUND: { category: 'auth', message: 'No' },
  } as const
  expect(new ToolError('E3101', 'x').completeFrom(declared).toObject()).toMatchObject({
    category: 'auth',
    recoverable: false,
    retryable: true,
  })
  expect(
    new ToolError('E3101', 'x', { retryable: false }).completeFrom(declared).toObject(),
  ).toMatchObject({ category: 'auth', retryable: false })
  expect(new ToolError('NOT_FOUND', 'x').completeFrom(declared).toObject()).toMatchObject({
    category: 'state',
  })
})
