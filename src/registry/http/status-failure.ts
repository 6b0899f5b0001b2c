import { readOutcome } from '../../contract/dialects/read-outcome.ts'
import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError, toolErrorFrom } from '../../contract/tool-error.ts'
import type { HttpAnswer } from './request.ts'
import { httpCode } from './status.ts'

const LONGEST = 2000

/** The failure that an answer with a bad status tells: the server's own error where the body has one, else a code by the status, with the text of the body. */
export function statusFailure(answer: HttpAnswer, who: string, tool: string): ToolError {
  const { status, document } = answer
  const told = isEnvelope(document) ? readOutcome(document, { tool }) : undefined
  if (told && !told.ok && isWritten(document)) return toolErrorFrom(told.error)
  const wait = Number(answer.headers.get('retry-after'))
  return new ToolError(
    httpCode(status),
    `${who} answered with HTTP status ${status}${said(answer)}`,
    {
      details: { status, ...(document !== undefined && { body: document }) },
      ...(wait > 0 && { suggestion: `Wait ${wait} seconds, then call again` }),
    },
  )
}

function said({ document, bytes, type }: HttpAnswer): string {
  const text =
    document === undefined
      ? type.includes('html')
        ? ''
        : bytes.toString('utf8', 0, LONGEST).trim()
      : messageOf(document)
  return text === '' ? '' : `: ${shorten(text, LONGEST)}`
}

// The words under which servers hide what went wrong.
function messageOf(document: unknown): string {
  if (!isObject(document)) return JSON.stringify(document)
  const { error, message, detail, title, errors } = document
  const found = [isObject(error) ? error['message'] : error, message, detail, title, errors].find(
    (value) => value !== undefined && value !== null && value !== '',
  )
  return typeof found === 'string' ? found : JSON.stringify(found ?? document)
}

function isEnvelope(document: unknown): boolean {
  return isObject(document) && (document['ok'] === false || isObject(document['error']))
}

// Only a code that its author chose says more than the status does.
function isWritten(document: unknown): boolean {
  const error = isObject(document) ? document['error'] : undefined
  return (
    isObject(error) && typeof error['code'] === 'string' && /^[A-Z][A-Z0-9_]*$/.test(error['code'])
  )
}
