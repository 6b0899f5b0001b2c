/** The promises of section 8 about guards, budgets and results. */
export const GUARDS: { readonly [name: string]: string } = {
  'guards-order':
    'Guards are asked in their order, after validation and preValidate and before confirmation and handler; the first refusal counts.',
  'guards-closed':
    'A guard that throws, gives nonsense, never answers or lacks its state keeps the call from running.',
  'guards-passed':
    'Guards are told of a success only, and what they noted goes when the commit fails.',
  'guards-advice': 'A refusal is a failed result with a code and advice.',
  'guards-sequence':
    'A tool that needs others is refused until they have succeeded on the same state, also under parallel calls.',
  'guards-read-before-write':
    'What was not read as it is now is not changed, whatever way its path is spelled.',
  'guards-rate': 'No more calls than allowed begin within the time, also under parallel calls.',
  'guards-approval': 'A person is asked, sees no secrets, and only agreement lets the call run.',
  'guards-toolsets':
    'Guards of a toolset or registry look at every call of its tools on every surface, and the caller cannot take them away.',
  'budget-dimensions':
    'A budget limits time, tokens in, out and in total, and calls; who goes beyond is told the dimension.',
  'budget-during':
    'A budget ends running calls when it is passed, also those that share it, and while somebody is asked.',
  'budget-config': 'Limits that make no sense are refused.',
  'result-rendering':
    'A model is told the message and the value: by the own render() of the value where it has one, nothing of a hidden value, never an empty text.',
  'seed-behaviours':
    'Every behaviour that the specification of the runtime lists has a test under its name.',
  'failure-rows':
    "Each row of the seed's failure table holds for calls: failed results, one event, and state, files and members as before.",
}
