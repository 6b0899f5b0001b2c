import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import { formatDuration } from '../model/format/duration.ts'
import type { RunModel } from '../model/run-model/run-model-type.ts'
import { eventText, messageOf } from '../model/summary/event-text.ts'
import type { Look, Role } from './look.ts'
import { questionText } from './layout/questions.ts'

export type ScrollOptions = {
  readonly look: Look
  /** Each line says which run it is of. */
  readonly named: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  /** Who answers here: that answer is shown by whoever asked. */
  readonly person: string
}

const LONGEST = 4000

/** What an event leaves above the tree, line by line: what the tool says, and what went wrong on the way. Everything else is seen in the tree. `model` is as it was after the event. */
export function scrolledLines(
  event: RunEvent,
  model: RunModel,
  { look, named, quiet, verbose, person }: ScrollOptions,
): readonly string[] {
  const line = (text: string, role?: Role, word?: string): string =>
    `${named ? `${look.paint('dim', event.run_id)} ` : ''}${word === undefined ? '' : `${look.paint(role ?? 'dim', word)} `}${word === undefined && role ? look.paint(role, look.clean(text)) : look.clean(text)}`
  const all = (text: string, role?: Role, word?: string): readonly string[] =>
    text
      .slice(0, LONGEST)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map((one) => line(one, role, word))
  switch (event.type) {
    case 'log': {
      // What is told of each step is seen in the step.
      if (event['step_state'] !== undefined && !verbose) return []
      const text = messageOf(event) ?? ''
      const level = event['level']
      if (level === 'error') return all(text, 'bad', `${look.glyphs.bad} error`)
      if (level === 'warn' || level === 'warning') return all(text, 'warn', '! warning')
      if (level === 'debug') return verbose ? all(text, 'dim') : []
      return quiet ? [] : all(text)
    }
    case 'diagnostic': {
      if (quiet) return []
      const text = typeof event['line'] === 'string' ? event['line'] : ''
      return event['reason'] === 'stderr'
        ? all(text, 'dim')
        : all(
            [messageOf(event), text].filter((part) => part !== undefined && part !== '').join(': '),
            'warn',
            '! ignored',
          )
    }
    case 'item':
      return quiet ? [] : all(eventText(event))
    case 'runner_warning':
      return all(eventText(event), 'warn', '! warning')
    case 'runner_log':
      return answered(event, model, person, all) ?? (quiet ? [] : all(eventText(event), 'dim'))
    case 'runner_end': {
      const again = event['retry_in_s']
      return typeof again === 'number'
        ? all(
            `attempt ${event.attempt} failed: ${[model.error?.code, model.error?.message].filter((part) => part !== undefined).join(' ')}; the next one comes in ${formatDuration(again)}`,
            'warn',
            '! warning',
          )
        : []
    }
    default:
      return []
  }
}

/** A question and its answer, as they stay above the tree. */
export function answeredLine(prompt: string, answer: string, look: Look): string {
  return `${look.paint('warn', look.glyphs.waiting)} ${look.clean(prompt)} ${look.paint('accent', look.clean(answer))}`
}

function answered(
  { answer }: RunEvent,
  { questions }: RunModel,
  person: string,
  all: (text: string, role?: Role, word?: string) => readonly string[],
): readonly string[] | undefined {
  if (!isObject(answer)) return undefined
  if (answer['by'] === person) return []
  const asked = questions.findLast(({ question }) => question.id === answer['id'])
  const prompt = asked ? questionText(asked.question) : String(answer['id'])
  if (answer['withdrawn'] === true) return all(`nobody waits for the answer to: ${prompt}`, 'dim')
  const value = answer['value']
  return all(
    `${prompt} ${typeof value === 'string' ? value : (JSON.stringify(value) ?? '')} (${String(answer['by'])})`,
    'warn',
    '? answer',
  )
}
