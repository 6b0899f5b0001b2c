/**
 * The promises of section 7 of the specification about what a tool may do: permissions, policies,
 * paths and environment.
 */
export const PERMISSIONS: { readonly [name: string]: string } = {
  'grants-shape':
    'Permissions and resources of a manifest have one shape; the short forms expand to it, and what is not asked for is not given.',
  'grants-refused':
    'What is not exact, or more than any tool gets, is refused before start with file, line and a fix.',
  'policy-allows':
    'Policies say the most that any manifest may ask for; what stays below runs, and limits that a manifest leaves open are theirs.',
  'policy-refuses':
    'Policies of machine, environment and project are intersected; a manifest that asks for more is refused with its line and theirs.',
  'policy-broken': 'A policy that cannot be read or understood is a refusal, never ignored.',
  'policy-answers': 'Policies answer questions of tools.',
  'level-decided':
    'A tool runs at the level that it needs or is refused before start; less has to be accepted, and a policy can forbid that.',
  'calls-held':
    'A tool with permissions is held by them in every call of a registry, not only in runs; a tool without them runs with the rights of its caller, unless a policy demands more.',
  'wide-manifests':
    'Manifests that ask for the machine, for patterns, for any server or for root are refused before anything starts, with file and line.',
  'run-environment':
    'A tool gets what the run says, an allow-list of variables and what its manifest requires; what is required and missing is CONFIG before start.',
  'run-paths':
    'Declared inputs of type path mean what they mean in the directory of the caller; everything undeclared passes verbatim.',
  'run-inputs-checked':
    'Declared inputs that are missing, of the wrong type or name no file are refused before start.',
  'run-outputs-placed':
    'Outputs are made in the workspace and put into their place atomically on success; links are never followed, and a failure places nothing.',
  'policy-schema':
    'The JSON Schema of a policy that editors get is made from what its reader checks, and both accept and refuse the same policies.',
}
