import { basename, extname } from 'node:path'
import type { LocatedDocument } from '../../contract/documents/document.ts'
import { checkNested } from './check-nested.ts'
import { draftWorkflow } from './draft-workflow.ts'
import type { Drafting, RawWorkflow } from './draft-workflow.ts'
import { locateFindings, problemsError } from './finding.ts'
import type { Finding } from './finding.ts'
import type { Workflow } from './workflow-type.ts'

/** Where workflows come from that a definition names by their files. */
export type ReadOptions = {
  /** Default: none are read, and naming one is a problem. */ readonly nested?: Drafting['nested']
}

/** Makes a workflow of the text of a file, YAML or JSON. Throws CONFIG with every problem, its line and its path. */
export async function readWorkflow(
  file: string,
  text: string,
  { nested = noFiles }: ReadOptions = {},
): Promise<Workflow> {
  return finish(await readRaw(file, text), nested)
}

/** The data of a file, before anybody looks whether it is a workflow. */
export async function readRaw(
  file: string,
  text: string,
): Promise<RawWorkflow & { readonly source: { readonly file: string } }> {
  const { value, locate } = await readDocument(file, text)
  return { value, source: { file, locate }, name: nameOf(file) }
}

/** Checks raw data and makes a workflow of it. */
export async function finish(raw: RawWorkflow, nested: Drafting['nested']): Promise<Workflow> {
  const findings: Finding[] = []
  const workflow = draftWorkflow(raw, { findings, nested, counted: { steps: 0 } })
  if (workflow && findings.length === 0) {
    const { findSchemaFaults } = await import('./find-schema-faults.ts')
    findings.push(...findSchemaFaults(workflow, raw.source))
    if (findings.length === 0) findings.push(...(await checkNested(workflow)))
    if (findings.length === 0)
      findings.push(
        ...(await (await import('./find-default-faults.ts')).findDefaultFaults(workflow)),
      )
  }
  if (!workflow || findings.length > 0)
    throw problemsError(await locateFindings(findings), findings.length)
  return workflow
}

async function readDocument(file: string, text: string): Promise<LocatedDocument> {
  const isJson =
    /\.json$/i.test(file) || (!/\.ya?ml$/i.test(file) && text.trimStart().startsWith('{'))
  if (isJson) return (await import('../../define/documents/read-json.ts')).readJson(file, text)
  return (await import('../../contract/documents/read-yaml.ts')).readYaml(file, text)
}

// `nightly build.workflow.yaml` is `nightly-build`.
function nameOf(file: string): string {
  const plain = basename(file, extname(file))
    .replace(/\.workflow$/, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
  return plain === '' || plain === '__proto__' ? 'workflow' : plain
}

function noFiles(): string {
  return 'a file can be named only where files are read: use loadWorkflow'
}
