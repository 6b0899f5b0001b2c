import type { ToolManifest } from '../contract/manifest.ts'
import type { Look } from './look/answer.ts'

/** The manifest that stands in the file of a program, from which a registry lists and calls its tools without running it. */
export function inFileManifest({ name, version, manifest, serves }: Look): object {
  return {
    name,
    version,
    call: 'toolable',
    ...(serves && { serve: true }),
    tools: manifest.tools.map(describe),
  }
}

function describe({
  name,
  title,
  summary,
  description,
  tags,
  timeout,
  permissions,
  annotations,
  dryRun,
  inputSchema,
  outputSchema,
  examples,
  errors,
  streaming,
  session,
}: ToolManifest): object {
  return {
    name,
    summary,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(tags.length > 0 && { tags }),
    ...(timeout !== undefined && { timeout }),
    ...(permissions && { permissions }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(dryRun && { dryRun }),
    ...(streaming && { streaming }),
    ...(session && { session }),
    ...(examples.length > 0 && { examples }),
    ...(Object.keys(errors).length > 0 && { errors }),
    input: inputSchema,
    ...(outputSchema && { output: outputSchema }),
  }
}
