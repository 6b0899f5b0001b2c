import type { JsonSchema } from '../json.ts'
import { describeTool } from './describe-tool.ts'
import { FIELD_RULES } from './field-names.ts'
import type { ExportedTool, ExportOptions, ProviderForms, ProviderName } from './forms.ts'
import { objectRoot } from './object-root.ts'
import { readShape } from './read-shape.ts'
import { isOpen } from './shape.ts'
import type { Shape } from './shape.ts'
import { writeGemini } from './write-gemini.ts'
import { writeJson } from './write-json.ts'
import { writeStrict } from './write-strict.ts'

// Longer ones are refused with the whole request.
const OPENAI_DESCRIPTION = 1024

/** Tools in the form that a provider's request takes. The schemas obey its rules and never allow less than the tool does; what they cannot say, the call pipeline checks. */
export function toProvider<Name extends ProviderName>(
  provider: Name,
  tools: readonly ExportedTool[],
  options: ExportOptions = {},
): ProviderForms[Name] {
  return WRITERS[provider](tools, options)
}

const WRITERS: {
  readonly [Name in ProviderName]: (
    tools: readonly ExportedTool[],
    options: ExportOptions,
  ) => ProviderForms[Name]
} = {
  openai: (tools, options) =>
    tools.map((tool) => {
      const { parameters, strict } = openAiParameters(tool, options)
      return {
        type: 'function',
        function: {
          name: tool.name,
          description: describeTool(tool.manifest, OPENAI_DESCRIPTION),
          parameters,
          ...(strict && { strict }),
        },
      }
    }),
  'openai-responses': (tools, options) =>
    tools.map((tool) => {
      const { parameters, strict } = openAiParameters(tool, options)
      return {
        type: 'function',
        name: tool.name,
        description: describeTool(tool.manifest, OPENAI_DESCRIPTION),
        parameters,
        strict,
      }
    }),
  anthropic: (tools) =>
    tools.map((tool) => ({
      name: tool.name,
      description: describeTool(tool.manifest),
      input_schema: { ...writeJson(inputOf(tool), FIELD_RULES.anthropic), type: 'object' },
    })),
  gemini: (tools, options) => ({
    functionDeclarations: tools.map((tool) => ({
      name: tool.name,
      description: describeTool(tool.manifest),
      ...geminiParameters(inputOf(tool), options),
    })),
  }),
  mcp: (tools) =>
    tools.map(({ name, manifest }) => {
      const { title, inputSchema, outputSchema } = manifest
      const annotations = hintsOf(manifest)
      return {
        name,
        ...(title !== undefined && { title }),
        description: describeTool(manifest),
        inputSchema: { ...inputSchema, type: 'object' },
        // Clients of all versions take only results that are objects.
        ...(outputSchema &&
          outputSchema['type'] === 'object' && {
            outputSchema: { ...outputSchema, type: 'object' },
          }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
      }
    }),
}

function inputOf({ manifest }: ExportedTool): Shape {
  return objectRoot(readShape(manifest.inputSchema))
}

function openAiParameters(
  tool: ExportedTool,
  { strict = false, onNote }: ExportOptions,
): { readonly parameters: { [keyword: string]: unknown }; readonly strict: boolean } {
  const shape = inputOf(tool)
  if (strict) {
    const written = writeStrict(shape)
    if ('schema' in written) return { parameters: written.schema, strict }
    onNote?.({
      tool: tool.name,
      message: `'${tool.name}' is exported without strict mode: ${written.problem}`,
    })
  }
  return { parameters: writeJson(shape), strict: false }
}

function geminiParameters(
  shape: Shape,
  { schema = 'openapi' }: ExportOptions,
): { readonly parameters?: JsonSchema; readonly parametersJsonSchema?: JsonSchema } {
  // A function without parameters has none: an empty object is refused, and an open one can only be said in JSON Schema.
  if (shape.properties.size === 0)
    return isOpen(shape) && shape.additional !== undefined
      ? { parametersJsonSchema: writeJson(shape) }
      : {}
  return schema === 'json'
    ? { parametersJsonSchema: writeJson(shape, FIELD_RULES.gemini) }
    : { parameters: writeGemini(shape) }
}

function hintsOf({
  title,
  annotations,
}: ExportedTool['manifest']): NonNullable<ProviderForms['mcp'][number]['annotations']> {
  const { readOnly, destructive, idempotent, openWorld } = annotations
  return {
    ...(title !== undefined && { title }),
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  }
}
