// SPDX-License-Identifier: Apache-2.0
//! Exports non-maximum suppression: a sort by score, then a loop with one step per box. A step handles all batch items
//! and classes.
use super::super::error::ExportError;
use super::super::field::Field;
use super::super::tensors::Tensors;
use super::Invocation;
use super::compacted::Compacted;
use super::domain::{Domain, Position};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::ops;
use skript_passes::ir::types;
use skript_semantics::Scalar;

/// The indices of the domain: batch item, class, rank in the order of scores.
const ALL: [usize; 3] = [0, 1, 2];

/// Returns rows (batch, class, box), and their extents.
pub(super) fn suppress<'c: 'a, 'a>(call: &Invocation<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = call.at;
    let (boxes, scores) = (call.input(0)?, call.input(1)?);
    let extents = at.extents(scores);
    let centered = call.attribute(|c| c.text("box_format").map(|f| f == "CENTER"))?;
    let limit = call.int("max_outputs_per_class")?;
    let overlap = call.attribute(|c| c.real("iou_threshold"))?;
    let threshold = call.attribute(|c| c.optional_real("score_threshold"))?;
    if extents.contains(&0) {
        let compacted = Compacted::new(at.splat(Scalar::Bool(false), &extents, at.bool()), &at);
        let none = compacted.digit(&extents, 0);
        return compacted.results(call, &[none.clone(), none.clone(), none], 1);
    }
    let domain = Domain { extents: extents.clone(), at };
    let order = by_score(scores, &domain);
    let position = Field { value: order, indices: ALL.to_vec() };
    let wanted = match threshold {
        Some(threshold) => {
            let score = domain
                .read(scores, &[Position::Index(0), Position::Index(1), Position::At(position.clone())]);
            let threshold = domain.real(threshold, at.element(scores));
            domain.compare("GT", &score, &threshold)
        }
        None => Field::scalar(at.splat(Scalar::Bool(true), &[], at.bool())),
    };
    let wanted = match call.inside(1)? {
        Some(inside) => {
            let inside = inside.over(&ALL, &extents, &at);
            let positions = [Position::Index(0), Position::Index(1), Position::At(position.clone())];
            domain.apply("and", &[&wanted, &domain.read(inside, &positions)])
        }
        None => wanted,
    };
    let wanted = wanted.over(&ALL, &extents, &at);
    let mut corners = Vec::new();
    for number in 0..4 {
        let component = Position::At(domain.int(number));
        corners.push(domain.read(boxes, &[Position::Index(0), Position::At(position.clone()), component]));
    }
    let ranges = ranges(&corners, centered, &domain);
    let taken = greedy(wanted, &ranges, limit, overlap, &domain);
    let compacted = Compacted::new(taken, &at);
    let columns = [compacted.digit(&extents, 0), compacted.digit(&extents, 1), compacted.at_positions(order)];
    compacted.results(call, &columns, 1)
}

/// The boxes of each class by descending score; of boxes with equal scores, the later box first. Scores are compared in
/// the total order of IEEE 754.
fn by_score<'c: 'a, 'a>(scores: Value<'c, 'a>, domain: &Domain<'c, 'a>) -> Value<'c, 'a> {
    let at = &domain.at;
    let is_double = at.element(scores) == Type::float64(at.at.context);
    let width = if is_double { 64 } else { 32 };
    let word = IntegerType::new(at.at.context, width).into();
    let r#type = types::tensor(&domain.extents, word);
    let bits = at.op("bitcast_convert", &[scores], &[], r#type);
    let shift = |by| at.splat(Scalar::Int(by), &domain.extents, word);
    let sign = at.same("shift_right_arithmetic", &[bits, shift(i64::from(width) - 1)]);
    let flipped = at.same("shift_right_logical", &[sign, shift(1)]);
    let keys = at.same("xor", &[bits, flipped]);
    let positions = domain.index(2).over(&ALL, &domain.extents, at);
    let sorted = at.sort(&[keys, positions], 2, |inner, rows| {
        let [key, other_key, position, other_position] = [0, 1, 2, 3].map(|n| rows[n]);
        let above = inner.compare("GT", "SIGNED", key, other_key);
        let equal = inner.compare("EQ", "SIGNED", key, other_key);
        let later = inner.compare("GT", "SIGNED", position, other_position);
        let later = inner.same("and", &[equal, later]);
        inner.same("or", &[above, later])
    });
    sorted[1]
}

/// The smaller (`LT`) or the larger (`GT`) of two numbers; if one of them is NaN, the other number.
fn extreme<'c: 'a, 'a>(
    direction: &str,
    a: &Field<'c, 'a>,
    b: &Field<'c, 'a>,
    domain: &Domain<'c, 'a>,
) -> Field<'c, 'a> {
    let first = domain.compare(direction, a, b);
    let is_nan = domain.compare("NE", b, b);
    domain.select(&domain.apply("or", &[&first, &is_nan]), a, b)
}

/// The minimum and the maximum of each box along both dimensions.
fn ranges<'c: 'a, 'a>(
    corners: &[Field<'c, 'a>],
    centered: bool,
    domain: &Domain<'c, 'a>,
) -> [Value<'c, 'a>; 4] {
    let [a, b, c, d] = [0, 1, 2, 3].map(|n| &corners[n]);
    let fields = if centered {
        // x, y, width, height
        let half = domain.real(2.0, domain.at.element(a.value));
        let (width, height) = (domain.apply("divide", &[c, &half]), domain.apply("divide", &[d, &half]));
        [
            domain.apply("subtract", &[b, &height]),
            domain.apply("add", &[b, &height]),
            domain.apply("subtract", &[a, &width]),
            domain.apply("add", &[a, &width]),
        ]
    } else {
        [
            extreme("LT", a, c, domain),
            extreme("GT", a, c, domain),
            extreme("LT", b, d, domain),
            extreme("GT", b, d, domain),
        ]
    };
    fields.map(|f| f.over(&ALL, &domain.extents, &domain.at))
}

/// Emits the greedy selection; returns whether each box is selected, in the order of scores.
fn greedy<'c: 'a, 'a>(
    wanted: Value<'c, 'a>,
    ranges: &[Value<'c, 'a>; 4],
    limit: Value<'c, 'a>,
    overlap: f64,
    domain: &Domain<'c, 'a>,
) -> Value<'c, 'a> {
    let at = &domain.at;
    let extents = &domain.extents;
    let steps = extents[2];
    let groups: Vec<i64> = extents.iter().take(2).copied().chain([1]).collect();
    let per_group: Vec<i64> = extents.iter().take(2).copied().collect();
    let state = [
        at.integer(0),
        at.splat(Scalar::Bool(false), extents, at.bool()),
        at.splat(Scalar::Int(0), &groups, at.int()),
    ];
    let types: Vec<_> = state.iter().map(|v| v.r#type()).collect();
    let (test_region, test, arguments) = at.at.region(&types);
    let inner = Tensors { at: test };
    let condition = inner.compare("LT", "SIGNED", arguments[0], inner.integer(steps));
    test.op(ops::stablehlo::RETURN, &[condition], &[], &[], Vec::new());

    let (body_region, body, arguments) = at.at.region(&types);
    let [step, taken, count] = [0, 1, 2].map(|n| arguments[n]);
    let inner = Domain { extents: extents.clone(), at: Tensors { at: body } };
    let now = &inner.at;
    let first = now.integer(0);
    let starts = [first, first, step];
    let whole = |value| Field { value, indices: ALL.to_vec() };
    // The box that the step visits in each group. Its rank is the same in all groups.
    let of_step = |value| {
        let one = now.dynamic_slice(value, &starts, &groups);
        Field { value: now.reshape(one, &per_group), indices: vec![0, 1] }
    };
    let [a, b, c, d] = *ranges;
    let all = [whole(a), whole(b), whole(c), whole(d)];
    let one = [of_step(a), of_step(b), of_step(c), of_step(d)];
    let ratio = ratio(&all, &one, &inner);
    let allowed = inner.real(overlap, now.element(a));
    let is_below = inner.compare("LE", &ratio, &allowed);
    let overlaps = inner.apply("not", &[&is_below]);
    let blocked = inner.apply("and", &[&whole(taken), &overlaps]);
    let blocked = inner.reduce(&blocked, "or", Scalar::Bool(false), 2);
    let is_free = inner.apply("not", &[&blocked]);
    let counted = Field { value: now.reshape(count, &per_group), indices: vec![0, 1] };
    let has_room = inner.compare("LT", &counted, &Field::scalar(limit));
    let takes = inner.apply("and", &[&is_free, &has_room]);
    let takes = inner.apply("and", &[&takes, &of_step(wanted)]);
    let added = inner.apply("add", &[&counted, &inner.convert(&takes, now.int())]);
    let update = now.reshape(takes.value, &groups);
    let next = [
        now.same("add", &[step, now.integer(1)]),
        now.dynamic_update_slice(taken, update, &starts),
        now.reshape(added.value, &groups),
    ];
    body.op(ops::stablehlo::RETURN, &next, &[], &[], Vec::new());
    let regions = vec![test_region, body_region];
    let steps = at.at.op(ops::stablehlo::WHILE, &state, &[], &types, regions);
    at.at.result(steps, 1)
}

/// Intersection over union; 0 if both boxes are empty.
fn ratio<'c: 'a, 'a>(
    a: &[Field<'c, 'a>; 4],
    b: &[Field<'c, 'a>; 4],
    domain: &Domain<'c, 'a>,
) -> Field<'c, 'a> {
    let zero = domain.real(0.0, domain.at.element(a[0].value));
    let span = |low: &Field<'c, 'a>, high: &Field<'c, 'a>| domain.apply("subtract", &[high, low]);
    let area =
        |[l0, h0, l1, h1]: &[Field<'c, 'a>; 4]| domain.apply("multiply", &[&span(l0, h0), &span(l1, h1)]);
    let common = |[a_low, a_high]: [&Field<'c, 'a>; 2], [b_low, b_high]: [&Field<'c, 'a>; 2]| {
        let end = extreme("LT", a_high, b_high, domain);
        let begin = extreme("GT", a_low, b_low, domain);
        extreme("GT", &zero, &span(&begin, &end), domain)
    };
    let [a0, a1, a2, a3] = a.each_ref();
    let [b0, b1, b2, b3] = b.each_ref();
    let rows = common([a0, a1], [b0, b1]);
    let columns = common([a2, a3], [b2, b3]);
    let common = domain.apply("multiply", &[&rows, &columns]);
    let both = domain.apply("add", &[&area(a), &area(b)]);
    let union = domain.apply("subtract", &[&both, &common]);
    let ratio = domain.apply("divide", &[&common, &union]);
    let is_nonempty = domain.compare("GT", &union, &zero);
    domain.select(&is_nonempty, &ratio, &zero)
}
