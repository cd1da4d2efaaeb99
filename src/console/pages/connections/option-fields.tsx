/** A field for each option that the connector declares; those that are not needed stay folded. */
import type { Connector, ConnectorOption } from '../../../api/meta/connector-shapes.ts';
import { type Draft, optionProblem, optionsFor } from './draft.ts';

type Props = {
  connector: Connector;
  draft: Draft;
  onChange(options: Readonly<Record<string, string>>): void;
};

export function OptionFields({ connector, draft, onChange }: Props) {
  const options = optionsFor(connector, draft.direction);
  const needed = options.filter(({ required }) => required);
  const others = options.filter(({ required }) => !required);
  const field = (option: ConnectorOption) => (
    <OptionField
      key={option.name}
      option={option}
      text={draft.options[option.name] ?? ''}
      onInput={(text) => onChange({ ...draft.options, [option.name]: text })}
    />
  );
  if (options.length === 0) return null;
  return (
    <section class="panel panel-body wizard-step" aria-label="Options">
      <h2>Options</h2>
      {needed.map(field)}
      {needed.length === 0 ? (
        <div class="wizard-fields">{others.slice(0, FEW).map(field)}</div>
      ) : null}
      {(needed.length > 0 ? others : others.slice(FEW)).length > 0 && (
        <details>
          <summary>{needed.length > 0 ? 'More' : 'Further'} options</summary>
          <div class="wizard-fields">
            {(needed.length > 0 ? others : others.slice(FEW)).map(field)}
          </div>
        </details>
      )}
    </section>
  );
}

/** Shown at once when none is needed. */
const FEW = 4;

type FieldProps = { option: ConnectorOption; text: string; onInput(text: string): void };

const kindOf = ({ name, type }: ConnectorOption) =>
  /secret|password|token/.test(name)
    ? { type: 'password' as const }
    : {
        type: 'text' as const,
        inputMode: type === 'integer' || type === 'number' ? ('decimal' as const) : undefined,
      };

function OptionField({ option, text, onInput }: FieldProps) {
  const id = `option-${option.name}`;
  const wrong = text === '' ? '' : optionProblem(option, text);
  const described = `${id}-help`;
  const shared = {
    id,
    class: 'input',
    'aria-describedby': described,
    'aria-invalid': wrong !== '',
  };
  const usual = option.default === null ? '' : String(option.default);
  return (
    <div class="field">
      <label for={id}>
        {option.name}
        {option.required && <span class="faint"> (needed)</span>}
      </label>
      {option.type === 'choice' || option.type === 'boolean' ? (
        <select {...shared} value={text} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">{usual === '' ? '–' : `usual: ${usual}`}</option>
          {(option.choices ?? ['true', 'false']).map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          {...kindOf(option)}
          placeholder={option.type === 'duration' ? '10 seconds' : usual}
          value={text}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
      <span class="help" id={described}>
        {option.description}
      </span>
      {wrong !== '' && <span class="wrong">{wrong}</span>}
    </div>
  );
}
