import type { LogLevel, ToolEvent } from '../../../contract/events.ts'
import { toJsonText } from '../output/json-text.ts'
import { cleanLine, cleanText } from '../output/text/clean.ts'

/** The JSON line, without newline, that tells stderr about an event; undefined for events that are no notification. */
export function notificationLine(event: ToolEvent): string | undefined {
  switch (event.type) {
    case 'progress':
      return toJsonText({
        type: 'notification',
        kind: 'progress',
        message: event.message,
        ...(event.percent !== undefined && { percent: event.percent }),
        ...(event.plan && { plan: event.plan }),
      })
    case 'log':
      return toJsonText({
        type: 'notification',
        kind: 'log',
        level: event.level,
        message: event.message,
      })
    case 'artifact':
      return toJsonText({
        type: 'notification',
        kind: 'artifact',
        name: event.name,
        uri: event.uri,
      })
    default:
      return undefined
  }
}

/** The same for a person, where there is no terminal to draw on. */
export function notificationText(event: ToolEvent): string | undefined {
  switch (event.type) {
    case 'progress':
      return `${event.percent === undefined ? '' : `${formatPercent(event.percent)} `}${cleanLine(event.message)}`
    case 'log':
      return `${LEVEL_WORDS[event.level] ?? ''}${cleanText(event.message)}`
    case 'artifact':
      return `artifact: ${cleanLine(event.name)} ${cleanLine(event.uri)}`
    default:
      return undefined
  }
}

/** A true percentage as text; nonsense gives ''. */
export function formatPercent(percent: number): string {
  return Number.isFinite(percent) ? `${Math.round(Math.min(100, Math.max(0, percent)))}%` : ''
}

const LEVEL_WORDS: { readonly [level in LogLevel]: string } = {
  debug: 'debug: ',
  info: '',
  warn: 'warning: ',
  error: 'error: ',
}
