import type { Interaction } from '../contract/interaction.ts'
import type { Schema } from '../define/schema/schema.ts'

/** The schema of a question, ready to check answers. It comes from the tool: one that cannot be used asks for nothing. */
export async function compileAsked({
  schema,
}: Pick<Interaction, 'schema'>): Promise<Schema | undefined> {
  if (!schema) return undefined
  const { compileSchema } = await import('../define/schema/compile.ts')
  try {
    return compileSchema(schema, 'output')
  } catch {
    return undefined
  }
}
