import { readFileSync } from 'node:fs'
import { parseObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../prompting/agent/model-type.ts'

/** What was said according to a transcript; undefined where there is none. A line that was torn by a crash is left out. */
export function readConversation(file: string): readonly AgentMessage[] | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  let messages: AgentMessage[] = []
  for (const line of text.split('\n')) {
    const entry = parseObject(line)
    // Each attempt begins with what it was given.
    if (entry?.['type'] === 'start' && Array.isArray(entry['messages']))
      messages = [...(entry['messages'] as AgentMessage[])]
    else if (entry?.['type'] === 'message') messages.push(entry['message'] as AgentMessage)
  }
  return messages.length > 0 ? messages : undefined
}
