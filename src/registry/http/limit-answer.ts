import { ToolError } from '../../contract/tool-error.ts'

/** Bytes of one answer, or of one event of a stream. */
export const LARGEST_ANSWER = 16 * 1024 * 1024

/** The same answer, which breaks with OUTPUT_LIMIT when it, or one event of its stream, grows too large. */
export function limitAnswer(answer: Response): Response {
  if (!answer.body) return answer
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true
  const limited = new Response(answer.body.pipeThrough(countBytes(isStream)), {
    status: answer.status,
    statusText: answer.statusText,
    headers: answer.headers,
  })
  // A response that is built has no address, and who follows redirects looks at it.
  Object.defineProperty(limited, 'url', { value: answer.url })
  return limited
}

/** What is said about an answer that is too large. */
export function tooLarge(): ToolError {
  return new ToolError(
    'OUTPUT_LIMIT',
    `the answer has more than ${LARGEST_ANSWER / 1024 / 1024} MiB`,
    { suggestion: 'Ask for less: narrow the input of the call' },
  )
}

function countBytes(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let count = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? lastEventEnd(chunk) : -1
      count = end === -1 ? count + chunk.length : chunk.length - end
      if (count > LARGEST_ANSWER) controller.error(tooLarge())
      else controller.enqueue(chunk)
    },
  })
}

// An event ends with an empty line; one that lies across two chunks is found in the next one.
function lastEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'))
}
