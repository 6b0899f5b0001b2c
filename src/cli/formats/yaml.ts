import type { OutcomeFormatter } from './envelope.ts'
import { toEnvelope, withErrorLine } from './envelope.ts'
import { escapeInvisible, hasInvisible, toPlainJson } from './json-text.ts'

/** The envelope as one YAML document that readers of YAML 1.1 and 1.2 understand alike. */
export const format: OutcomeFormatter = async (outcome, options) =>
  withErrorLine(outcome, options, await toYamlText(toEnvelope(outcome, options.renderInput)))

async function toYamlText(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml')
  const document = new Document(toPlainJson(value), {
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
  })
  visit(document, {
    Scalar(_key, node) {
      // Only a quoted string can hold the escape.
      if (typeof node.value === 'string' && hasInvisible(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeInvisible(document.toString({ lineWidth: 0 }))
}
