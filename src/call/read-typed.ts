import type { Interaction } from '../contract/interaction.ts'
import { isObject } from '../contract/json.ts'
import { checkAnswer } from './check-answer.ts'
import { compileAsked } from './compile-asked.ts'

type Asked = Pick<Interaction, 'kind' | 'options' | 'schema' | 'dialogue'>

/** What somebody means who answers a question with a text, at a terminal or on a command line: the reading that fits it. Where none does, the likeliest, so that its problem is told. */
export async function readTyped(question: Asked, text: string): Promise<unknown> {
  const readings = readingsOf(question, text)
  if (readings.length === 1) return readings[0]
  const schema = await compileAsked(question)
  for (const reading of readings) {
    if ((await checkAnswer(question, schema, reading)).ok) return reading
  }
  return readings[0]
}

// A text that happens to be JSON stays text where nothing but text is wanted.
function readingsOf({ kind, schema, dialogue }: Asked, text: string): readonly unknown[] {
  const json = readJson(text)
  // In a session a person writes plain words; programs write JSON objects.
  if (dialogue)
    return [
      /^(quit|exit)$/i.test(text.trim()) ? { action: 'quit' } : isObject(json) ? json : { text },
    ]
  if (kind === 'confirm')
    return [
      /^(y|yes|true)$/i.test(text.trim())
        ? true
        : /^(n|no|false)$/i.test(text.trim())
          ? false
          : text,
    ]
  if (json === undefined || kind === 'sample' || (kind === 'input' && !schema)) return [text]
  return kind === 'decision' || schema?.['type'] === 'string' ? [text, json] : [json, text]
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
