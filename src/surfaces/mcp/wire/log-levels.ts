import type { LogLevel } from '../../../contract/events.ts'

const LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const

/** Log levels as the protocol names them. */
export type WireLogLevel = (typeof LEVELS)[number]

const BY_OURS: { readonly [Level in LogLevel]: WireLogLevel } = {
  debug: 'debug',
  info: 'info',
  warn: 'warning',
  error: 'error',
}

export function isLogLevel(value: unknown): value is WireLogLevel {
  return LEVELS.includes(value as WireLogLevel)
}

/** The protocol's name of a level. */
export function toWireLevel(level: LogLevel): WireLogLevel {
  return BY_OURS[level]
}

/** True when a line of `level` is wanted by somebody who asked for `least`. */
export function reaches(level: WireLogLevel, least: WireLogLevel | undefined): boolean {
  return least !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(least)
}
