import type { ErrorCode } from '../../contract/errors.ts'

const BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'INVALID_INPUT'],
  [401, 'PERMISSION'],
  [403, 'PERMISSION'],
  [404, 'NOT_FOUND'],
  [408, 'DEPENDENCY'],
  [409, 'CONFLICT'],
  [410, 'NOT_FOUND'],
  [412, 'PRECONDITION'],
  [413, 'INVALID_INPUT'],
  [415, 'INVALID_INPUT'],
  [422, 'INVALID_INPUT'],
  [425, 'DEPENDENCY'],
  [428, 'PRECONDITION'],
  [429, 'RATE_LIMIT'],
] as const)

/** The code of a failure that a server told by its HTTP status. */
export function httpCode(status: number): ErrorCode {
  return BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'INVALID_INPUT' : 'DEPENDENCY')
}
