//! Which cell of one file stands beside which of the other: a full join on all that a cell's requests share.

use polars::prelude::*;

use super::FrameError;
use super::columns::{
    CACHE, CELL_KEY, CONCURRENCY, ENGINE, INSTANCE_META, MODEL, NODES, PP, QUANTIZATION, SETTINGS, SHARDING, STREAMED,
    TG,
};
use super::lay_out::cache_code;
use crate::summary::CellKey;

const BASE: &str = "base";
const NEW: &str = "new";

/// Pairs of indices into `base` and `new`: the base's order, then what only the new file has.
pub(crate) fn pair(base: &[CellKey], new: &[CellKey]) -> Result<Vec<(Option<usize>, Option<usize>)>, FrameError> {
    let on: Vec<Expr> = CELL_KEY.iter().map(|name| col(*name)).collect();
    let joined = side(base, BASE)?
        .lazy()
        .join_builder()
        .with(side(new, NEW)?.lazy())
        .how(JoinType::Full)
        .left_on(on.clone())
        .right_on(on)
        // What neither file tells is the same for both: a null pairs with a null.
        .join_nulls(true)
        .coalesce(JoinCoalesce::CoalesceColumns)
        .maintain_order(MaintainOrderJoin::LeftRight)
        .finish()
        .collect()?;
    let (base, new) = (joined.column(BASE)?.u32()?, joined.column(NEW)?.u32()?);
    Ok(base.iter().zip(new.iter()).map(|(base, new)| (base.map(|at| at as usize), new.map(|at| at as usize))).collect())
}

fn side(keys: &[CellKey], index: &str) -> Result<DataFrame, FrameError> {
    let text = |of: fn(&CellKey) -> Option<&str>| keys.iter().map(of).collect::<Vec<Option<&str>>>();
    Ok(DataFrame::new(vec![
        Column::new(MODEL.into(), text(|key| key.model_id.as_deref())),
        Column::new(SHARDING.into(), text(|key| key.sharding.as_deref())),
        Column::new(INSTANCE_META.into(), text(|key| key.instance_meta.as_deref())),
        Column::new(NODES.into(), keys.iter().map(|key| key.nodes).collect::<Vec<_>>()),
        Column::new(PP.into(), keys.iter().map(|key| key.pp_tokens).collect::<Vec<_>>()),
        Column::new(TG.into(), keys.iter().map(|key| key.tg).collect::<Vec<_>>()),
        Column::new(CONCURRENCY.into(), keys.iter().map(|key| key.concurrency).collect::<Vec<_>>()),
        Column::new(STREAMED.into(), keys.iter().map(|key| key.streamed).collect::<Vec<_>>()),
        Column::new(CACHE.into(), keys.iter().map(|key| cache_code(key.cache)).collect::<Vec<_>>()),
        Column::new(ENGINE.into(), text(|key| key.engine.as_deref())),
        Column::new(QUANTIZATION.into(), text(|key| key.quantization.as_deref())),
        Column::new(SETTINGS.into(), keys.iter().map(|key| format!("{:?}", key.settings)).collect::<Vec<_>>()),
        Column::new(index.into(), (0..).take(keys.len()).collect::<Vec<u32>>()),
    ])?)
}
